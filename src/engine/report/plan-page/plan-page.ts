import { pageParts, pageStart } from '../html/page-file.ts';
import { planEnd, planHead, planVerdict } from './plan-head.ts';
import type { PlanPageContent } from './plan-page-data.ts';

/** A self-contained page, in parts. */
export function planPageParts(content: PlanPageContent): Promise<readonly string[]> {
  const { data } = content;
  return pageParts({
    name: 'plan',
    title: `${planVerdict(data)} (${data.source.name})`,
    shown: [planHead(data), planEnd(data)],
    withoutScripts: 'Without it, the terminal shows the plan.',
    content,
  });
}

export function isPlanPage(text: string): boolean {
  return text.startsWith(pageStart('plan'));
}
