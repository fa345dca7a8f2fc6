import * as parsers from './parsers.ts';
import type { Setting } from './setting.ts';

export const approvalSettings = {
  approvers: {
    noFlag: true,
    parse: parsers.parseText,
    value: '<file>',
    help: "file of those who approve plans, in OpenSSH's form allowed_signers",
    otherwise: 'none',
  },
  requireApprovalAbove: {
    noFlag: true,
    parse: parsers.parseApprovalLimits,
    value: '<n|operation=n>',
    help: 'runs with more calls than this need approvals: 500, or any; also by operation',
    otherwise: 'no run needs them',
    isMap: true,
  },
  approvals: {
    noFlag: true,
    parse: parsers.parseInteger(1, 20),
    value: '<n>',
    help: 'number of approvals that a run then needs; your own does not count',
    default: '1',
  },
  requireReason: {
    noFlag: true,
    parse: parsers.parseSwitch,
    value: '<yes|no>',
    help: 'whether commands that start or change a run need --reason',
    default: 'no',
  },
} as const satisfies Readonly<Record<string, Setting>>;
