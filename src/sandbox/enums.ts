/**
 * The values of enumerated fields in the public description of the service, number 0 first. The shape `document` does not need them,
 * because the interface document shows only one of each.
 */
export const evaluationStates = ['EVALUATION_IN_PROGRESS', 'EVALUATION_PASSED', 'EVALUATION_FAILED'] as const;
export const callTypes = ['INBOUND', 'OUTBOUND', 'PREVIEW', 'MANUAL', 'MAC'] as const;
export const channelTypes = [
  'CHANNEL_TYPE_EMAIL',
  'CHANNEL_TYPE_SMS',
  'CHANNEL_TYPE_CHAT',
  'CHANNEL_TYPE_VOICE',
  'CHANNEL_TYPE_WHATSAPP',
] as const;
export const riskLevels = [
  'RISK_LEVEL_NONE',
  'RISK_LEVEL_LOW',
  'RISK_LEVEL_MEDIUM',
  'RISK_LEVEL_HIGH',
  'RISK_FREE',
] as const;
export const fileTypes = ['RECORDING_FILE_TYPE_WAV', 'RECORDING_FILE_TYPE_MP3'] as const;
