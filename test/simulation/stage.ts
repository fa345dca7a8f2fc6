import type { Referee } from './referee.ts';
import type { Scenario } from './scenario.ts';
import type { SimulatedApi } from './simulated-api.ts';
import type { SimulatedDatastore } from './simulated-datastore.ts';
import type { SimulatedFile } from './simulated-journal.ts';
import type { Sightings } from './sometimes.ts';
import type { World } from './world.ts';

/** What the processes of a run share. */
export interface Stage {
  readonly world: World;
  readonly scenario: Scenario;
  readonly datastore: SimulatedDatastore;
  readonly api: SimulatedApi;
  readonly journal: SimulatedFile;
  readonly referee: Referee;
  readonly sightings: Sightings;
  readonly baseUrl: string;
  /** A promise is broken. */
  fail(violation: string): void;
}
