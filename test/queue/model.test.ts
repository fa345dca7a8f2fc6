import { connectionTo, modelDatastore } from '../simulation/model-datastore.ts';
import { QueueModel } from '../simulation/queue-model.ts';
import { describeQueueOn } from './conformance.ts';

// What the simulation finds counts only if its datastore promises what the others do.
describeQueueOn('the model of the simulation', async () =>
  modelDatastore(connectionTo(new QueueModel(() => performance.now()))),
);
