import type { Choices, Planned, StartOffer } from './draft.ts';

/** The files that a plan writes. */
export interface PlanOutput {
  /** The path of the plan file. An older one is replaced. */
  readonly plan: string;
  /** The path of the plan's page. */
  readonly page: string;
}

export interface DraftManifest {
  readonly path: string;
  /** The name as the person knows it. */
  readonly name: string;
  readonly sha256: string;
}

/** Commands of the program that a person can give on a page. Each does and refuses what the command of the terminal does and refuses. */
export interface PageCommands {
  offer(): Promise<StartOffer>;
  planManifest(manifest: DraftManifest, choices: Choices, output: PlanOutput): Promise<Planned>;
  planAgain(as: 'retry' | 'undo', run: string, choices: Choices, output: PlanOutput): Promise<Planned>;
  /** Hands a plan to the daemon. A plan that was handed over before is not run twice. @returns the id of the run */
  submit(plan: { readonly path: string; readonly sha256: string }, wanted: SubmitWishes): Promise<string>;
  /** Hands a stopped run to the daemon. */
  resume(run: string, reason: string): Promise<void>;
  /** @returns what the check has found, in words */
  check(run: string): Promise<string>;
  /** Reads a list of the service. @returns the entries as JSON lines */
  entries(list: string): Promise<Buffer>;
}

export interface SubmitWishes {
  /** Why the run is started, and where. */
  readonly reason: string;
  /** Whether ten rows are called first, after which the run pauses. */
  readonly tenFirst: boolean;
}
