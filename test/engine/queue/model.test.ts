import { connectionTo, modelDatastore } from '../../simulation/model-datastore.ts';
import { QueueModel } from '../../simulation/queue-model.ts';
import { describeQueueOn } from './conformance.ts';

// Findings of the simulation count only if its datastore keeps the promises of the others.
describeQueueOn('the model of the simulation', async () =>
  modelDatastore(connectionTo(new QueueModel(() => performance.now()))),
);
