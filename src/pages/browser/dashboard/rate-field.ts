import { rateText } from '../../../base/text/format.ts';
import type { RunData } from '../../server/page-data.ts';
import { type Child, element } from '../dom.ts';
import {
  needsNumber,
  type RateChoice,
  rateKinds,
  readRateChoice,
  typedRate,
  wantedRateText,
} from './wanted-rate.ts';

const kindTexts: Readonly<Record<RateChoice['kind'], string>> = {
  auto: 'As fast as the API permits: the rate is found while the run goes on',
  most: 'The same, but at most this number of calls per second',
  fixed: 'Always this number of calls per second',
  none: 'Without a limit: only for an API that has none',
};

/** What is known of the rate now: what the user wants, what is allowed, what the API permits. */
export function rateFacts(run: RunData): Child {
  const { pace, throughput } = run;
  const limit = pace?.limit_per_s ?? undefined;
  const allowed = pace?.allowed_per_s ?? undefined;
  const facts = [
    `Requested: ${wantedRateText(run) || 'as fast as the API permits'}.`,
    allowed !== undefined && `Allowed now: ${rateText(allowed, 'calls')}.`,
    limit === undefined
      ? 'The limit of the API is not known.'
      : `The limit of the API: ${rateText(limit, 'calls')}.`,
    throughput !== undefined && `Finished: ${rateText(throughput.rowsPerSecond, 'rows')}.`,
  ];
  return element('p', facts.filter(Boolean).join(' '));
}

/** Asks for a rate: a choice and a number. The hidden input `rate` has the rate as the server reads it. */
export function rateField({ wantedRate }: RunData): HTMLElement {
  const chosen = readRateChoice(wantedRate);
  let { kind } = chosen;
  const sent = element('input', { type: 'hidden', name: 'rate' });
  const number = element('input', {
    type: 'number',
    id: 'rate-number',
    min: '0.01',
    max: '1000000',
    step: 'any',
    required: true,
    value: chosen.perSecond,
    input: () => draw(),
  });
  const draw = (): void => {
    sent.value = typedRate({ kind, perSecond: number.value });
    number.disabled = !needsNumber({ kind });
  };
  const choices = rateKinds.map((each) => {
    const change = (): void => {
      kind = each;
      draw();
      if (!number.disabled) number.focus();
    };
    const radio = element('input', {
      type: 'radio',
      name: 'rate-kind',
      id: `rate-${each}`,
      checked: each === kind,
      change,
    });
    return element('p', radio, ' ', element('label', { for: radio.id }, kindTexts[each]));
  });
  draw();
  const label = element('label', { for: number.id }, 'Calls per second ');
  return element('fieldset', element('legend', 'Rate'), choices, element('p', label, number, sent));
}
