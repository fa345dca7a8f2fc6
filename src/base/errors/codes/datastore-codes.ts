import type { CodeTable } from './advice.ts';

const resume = 'Then type "cqbatch resume".';

/** Errors of the embedded datastore and of Redis. */
export const datastoreCodes = {
  DATASTORE_LOCKED: [
    'Another process has the embedded datastore.',
    'Wait (--wait 10m), or end the process that the message names.',
  ],
  DATASTORE_LOST: ['The embedded datastore ended unexpectedly.', 'Type "cqbatch resume".'],
  DATASTORE_REMOVED: ['The folder "queue" was removed.', `See what removes files there. ${resume}`],
  DATASTORE_UNUSABLE: ['The folder "queue" can\'t be opened.', `Move the folder "queue" away. ${resume}`],
  OTHER_DATASTORE: [
    'Rows of the run are in another datastore.',
    'Give --queue that the message names, or leave --queue out.',
  ],
  QUEUE_MISSING: ['Other workers need Redis.', 'Set CQBATCH_QUEUE, or leave out --concurrency 0.'],
  WORKER_MISSING: ['--no-worker needs Redis.', 'Set CQBATCH_QUEUE, or leave out --no-worker.'],
  PASSWORD_IN_FLAG: ['--queue has a password.', 'Put the address into CQBATCH_QUEUE.'],
  PASSWORD_UNREADABLE: ["The password file can't be read.", 'Correct its path, owner or mode.'],
  REDIS_URL: ['The address of Redis is wrong.', 'Write the address as in rediss://redis.example.com:6380/0.'],
  REDIS_UNREACHABLE: ['Redis does not answer.', `Check address, network and the log of Redis. ${resume}`],
  REDIS_AUTH: ['Redis or a Sentinel refuses the login.', 'Correct the password or user that is named.'],
  REDIS_PERMISSION: [
    'The user of Redis lacks a permission.',
    'Type the ACL SETUSER of the message in Redis.',
  ],
  REDIS_TLS: ['Redis has no trusted certificate, or no TLS.', 'Set NODE_EXTRA_CA_CERTS, or correct the URL.'],
  REDIS_DATABASE: ['Redis does not have that database.', 'Choose another number, such as 0.'],
  REDIS_SENTINEL: [
    'The address is that of a Sentinel, or no Sentinel knows the primary.',
    'Correct the URL as the message says.',
  ],
  REDIS_REPLICA: ['Redis is a replica.', 'Give the address of the primary, or of the Sentinels.'],
  REDIS_CLUSTER: ['Redis is part of a cluster.', 'Use a Redis without cluster mode.'],
  REDIS_VERSION: ['Redis is older than 6.2.', 'Use Redis 6.2 or newer, or Valkey.'],
  REDIS_LOADING: ['Redis reads its data.', `Wait. ${resume}`],
  REDIS_FULL: ['Redis has no memory left.', `Raise maxmemory. ${resume}`],
  REDIS_READ_ONLY: ['Redis refuses writes.', `Free space on its disk, as its log says. ${resume}`],
  REDIS_EVICTION: [
    'Redis deletes keys when its memory is full.',
    'Type "CONFIG SET maxmemory-policy noeviction" in Redis, and add the line to redis.conf.',
  ],
  UNKNOWN_PAYLOAD: ['Another version wrote to the datastore.', 'Use the version that started the run.'],
} as const satisfies CodeTable;
