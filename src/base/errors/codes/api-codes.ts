import type { CodeTable } from './advice.ts';

const giveAddress = 'Set CQBATCH_BASE_URL, or pass --base-url.';

/** Errors of the API, of tokens, workers, lists and modules of operations. */
export const apiCodes = {
  API_AWAY: [
    'The API was away for longer than --max-outage.',
    'When the API is back, type "cqbatch resume".',
  ],
  API_REFUSES: [
    'The API refuses every call.',
    'Correct token, permission or base URL as the message says. Then type "cqbatch resume".',
  ],
  API_UNPROVEN: [
    'The first calls failed, and nothing has succeeded yet.',
    'Correct what the message names. Then type "cqbatch resume".',
  ],
  BASE_URL_MISSING: ['The address of the API is missing.', giveAddress],
  BASE_URL_INVALID: ['The address of the API is wrong.', 'Write an address as in https://api.example.com.'],
  BASE_URL_INSECURE: ['http:// would send the token unencrypted.', 'Write https://.'],
  OTHER_API: ['The run belongs to another API.', 'Give the address and the token of the run.'],
  PROXY_INVALID: [
    'The address of the proxy is wrong.',
    'Write an address as in http://proxy.example.com:3128.',
  ],
  PROXY_INSECURE: ['http:// would show the token to the proxy.', 'Write https://, or set NO_PROXY.'],
  TOKEN_MISSING: [
    'The access token is missing, or is for another rate group.',
    'Set CQBATCH_TOKEN, or pass --token-file or --token-command.',
  ],
  LIST_MISSING: ['The service has no such list.', 'Write the manifest without "cqbatch export".'],
  LIST_FORBIDDEN: ['The token may not read the list.', 'Ask for the permission.'],
  LIST_CHANGED: ['The list changed meanwhile.', 'Type the command again.'],
  LIST_UNREADABLE: [
    "The list can't be read.",
    'Correct what the message names, then type the command again.',
  ],
  LISTS_UNREADABLE: ['The run compares, and has no token to do so.', 'Give the process a token.'],
  LIST_UNKNOWN: ['No operation has a list of this name.', 'Type a name from the message.'],
  ENTRY_UNREADABLE: [
    "An entry can't be read.",
    'Correct what the message names, then type the command again.',
  ],
  COMPARE_IMPOSSIBLE: ['The operation has no list to compare with.', 'Leave out --compare.'],
  CHECK_IMPOSSIBLE: ['The operation has no list to check with.', 'Look at the entries in the service.'],
  NOTHING_TO_EXPORT: ['The list has no entry to write.', 'If that is right, pass --allow-empty.'],
  NOTHING_TO_CHECK: ['No row of the run was called.', 'Nothing to do.'],
  EXPORT_EXISTS: ['The file to write already exists.', 'Choose another name with --out.'],
  WORKBOOK_UNFIT: ["A workbook can't hold the list.", 'Choose a name that ends with .csv.'],
  OPERATION_MISSING: [
    'The operation of the rows is not loaded.',
    'Pass --operations with the module that made the plan.',
  ],
  OPERATIONS_UNUSABLE: ["The module of --operations can't be loaded.", 'Correct the module or its path.'],
  OPERATION_INVALID: ['A member of an operation is wrong.', 'Correct the member that is named.'],
  REQUEST_CHANGED: [
    'A row would send another request than its plan showed.',
    'Use the version and module that made the plan. Or type "cqbatch cancel RUN", and plan again.',
  ],
  UNKNOWN_OPERATION: [
    'There is no operation of this name.',
    'Correct the name, or pass --operations everywhere.',
  ],
  WORKER_STUCK: [
    'A worker took no rows, and ended.',
    'Its supervisor starts the worker again. If the error repeats, check Redis.',
  ],
  WEBHOOK_INVALID: [
    'An address for notifications is wrong.',
    'Write an address as in https://hooks.example.com.',
  ],
  NOTIFY_SECRET_UNREADABLE: [
    "The secret of notifications can't be read.",
    'Correct its path, owner or mode.',
  ],
  DEFECT: ['The program has a defect.', 'Report the printed lines. Then type "cqbatch resume".'],
  UNEXPECTED: ['The program has a defect.', 'Report the printed lines.'],
} as const satisfies CodeTable;
