/** Details of errors (google/rpc/error_details.proto), as JSON and as bytes. */
export interface ErrorDetail {
  /** The type of the detail: `google.rpc.RetryInfo` */
  readonly type: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

export function retryInfo(seconds: number): ErrorDetail {
  const milliseconds = Math.max(1, Math.ceil(seconds * 1000));
  const [whole, rest] = [Math.floor(milliseconds / 1000), milliseconds % 1000];
  return {
    type: 'google.rpc.RetryInfo',
    json: { retryDelay: rest === 0 ? `${whole}s` : `${whole}.${String(rest).padStart(3, '0')}s` },
    bytes: part(1, Buffer.concat([integer(1, whole), integer(2, rest * 1_000_000)])),
  };
}

export function badRequest(field: string, description: string): ErrorDetail {
  return {
    type: 'google.rpc.BadRequest',
    json: { fieldViolations: [{ field, description }] },
    bytes: part(1, Buffer.concat([part(1, field), part(2, description)])),
  };
}

/** The service's own name for the reason. */
export function errorInfo(reason: string): ErrorDetail {
  return {
    type: 'google.rpc.ErrorInfo',
    json: { reason, domain },
    bytes: Buffer.concat([part(1, reason), part(2, domain)]),
  };
}

const domain = 'callquality.example';

function part(field: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

function integer(field: number, value: number): Buffer {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field * 8), varint(value)]);
}

/** A number in groups of seven bits, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}
