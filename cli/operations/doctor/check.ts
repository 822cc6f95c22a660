import type { Installation } from './installation.ts';

/** Something that is wrong, and its mend. */
export interface Problem {
  readonly problem: string;
  readonly mend: string;
}

/** One thing to look at. */
export interface Check {
  readonly name: string;
  /** What is looked at. */
  readonly looksAt: string;
  /** The page of docs/ that says more. */
  readonly page: string;
  /** What must be in order before: while it is not, this is not looked at. */
  readonly after: readonly string[];
  /** Empty if nothing is wrong. */
  look(installation: Installation): Promise<readonly Problem[]> | readonly Problem[];
}

export function found(problem: string, mend: string): readonly Problem[] {
  return [{ problem, mend }];
}

export const FINE: readonly Problem[] = [];
