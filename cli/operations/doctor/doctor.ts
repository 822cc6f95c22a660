import { errorMessage } from '../../common/actionable-error.ts';
import type { Run } from '../../program/command.ts';
import { EXIT_STATUSES } from '../../program/exit-statuses.ts';
import { withoutSecrets } from '../../program/failures.ts';
import type { Check, Problem } from './check.ts';
import { encryptionChecks } from './encryption.ts';
import { type Installation, openInstallation } from './installation.ts';
import { machineChecks } from './machine.ts';
import { serverChecks } from './servers.ts';
import { workChecks } from './work.ts';

/** In the order of causes: each explains those after it. */
export const CHECKS: readonly Check[] = [...machineChecks, ...serverChecks, ...encryptionChecks, ...workChecks];

type State = 'fine' | 'wrong' | 'not-looked-at';

interface Finding {
  readonly check: Check;
  readonly state: State;
  readonly problems: readonly Problem[];
}

/** `fas doctor`: it reads only, and works on an installation of which nothing runs. */
export const doctor: Run = async ({ environment, output }) => {
  const installation = openInstallation(environment);
  const progress = output.progress('Looking', CHECKS.length);
  const findings: Finding[] = [];
  try {
    for (const check of CHECKS) {
      findings.push(await look(check, installation, findings));
      progress.update(findings.length);
    }
  } finally {
    progress.end();
    await installation.close();
  }
  const isWrong = findings.some(({ state }) => state === 'wrong');
  output.show(
    { isFine: !isWrong, checks: findings.map(inJson) },
    findings.flatMap((finding) => inWords(finding, output.paint)),
  );
  return isWrong ? EXIT_STATUSES.rejected.status : EXIT_STATUSES.succeeded.status;
};

async function look(check: Check, installation: Installation, before: readonly Finding[]): Promise<Finding> {
  const cause = before.find((finding) => finding.state !== 'fine' && check.after.includes(finding.check.name));
  if (cause !== undefined) return { check, state: 'not-looked-at', problems: [] };
  try {
    const problems = await check.look(installation);
    return { check, state: problems.length === 0 ? 'fine' : 'wrong', problems };
  } catch (error) {
    const problem = `It could not be looked at: ${withoutSecrets(errorMessage(error).split('\n')[0] ?? '')}`;
    return { check, state: 'wrong', problems: [{ problem, mend: 'See its page.' }] };
  }
}

function inJson({ check: { name, looksAt, page }, state, problems }: Finding): object {
  return { name, looksAt, state, page, problems };
}

const MARKS: Readonly<Record<State, { readonly text: string; readonly colour: 'green' | 'red' | 'dim' }>> = {
  fine: { text: 'fine   ', colour: 'green' },
  wrong: { text: 'WRONG  ', colour: 'red' },
  'not-looked-at': { text: '-      ', colour: 'dim' },
};

function inWords(
  { check, state, problems }: Finding,
  paint: (style: 'green' | 'red' | 'dim', text: string) => string,
): string[] {
  const { text, colour } = MARKS[state];
  const first = `${paint(colour, text)}${check.name}: ${check.looksAt}`;
  return [
    first,
    ...problems.flatMap(({ problem, mend }) => [`       ${problem}`, `       Mend: ${mend}`]),
    ...(state === 'wrong' ? [`       More: ${check.page}`] : []),
  ];
}
