import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ServiceError } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { type WorkerVersion, workerVersion } from '../../../config/temporal.ts';
import { auditorOf } from '../../../db/common/audit-entries.ts';
import { ActionableError, errorMessage } from '../../common/actionable-error.ts';
import { type Operation, type OperationContext, printRejection } from '../operation.ts';
import { findUnpolledQueues, versionIn } from './task-queues.ts';

const audit = auditorOf('workflow');

const USAGE = 'Give list, set-current [BUILD_ID | --unversioned] or ramp BUILD_ID PERCENT.';
/** Temporal tells every task queue first. */
const ANSWER_MS_MAX = 60_000;
/** Workers of a release that has just been started poll by now. */
const POLLING_MS_MAX = 60_000;
const LOOK_AGAIN_MS = 1_000;

/** Which release's workers get the tasks of workflows and activities. */
interface Routing {
  /** Null: workers without a version. */
  readonly current: string | null;
  readonly ramping: string | null;
  readonly percent: number;
}

interface Request extends OperationContext {
  readonly deploymentName: string;
  readonly isJson: boolean;
}

/** `worker-versions list`, `set-current` and `ramp`: the versions of the deployment that the environment names. */
export const workerVersions: Operation = {
  async run(context) {
    const { values, positionals } = parseArgs({
      args: [...context.arguments],
      options: { json: { type: 'boolean', default: false }, unversioned: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const own = workerVersion(process.env);
    if (own === null)
      throw new ActionableError('Workers have no versions here: set TEMPORAL_DEPLOYMENT_NAME as the workers have it.');
    const { deploymentName } = own;
    const request: Request = { ...context, deploymentName, isJson: values.json };
    const [command, buildId, percent, ...more] = positionals;
    if (command === 'list' && buildId === undefined) return list(request);
    if (command === 'set-current' && percent === undefined && !(values.unversioned && buildId !== undefined)) {
      const version = values.unversioned ? null : { deploymentName, buildId: buildId ?? own.buildId };
      return route(request, version, { current: version?.buildId ?? null, ramping: null, percent: 0 });
    }
    if (command === 'ramp' && buildId !== undefined && more.length === 0) {
      const { current } = routingOf(await describe(request));
      const wanted = { current, ramping: buildId, percent: readPercent(percent) };
      return route(request, { deploymentName, buildId }, wanted);
    }
    throw new ActionableError(USAGE);
  },
};

function readPercent(given = ''): number {
  const percent = Number(given);
  if (/^\d{1,3}$/.test(given) && percent <= 100) return percent;
  throw new ActionableError('Give PERCENT as a whole number from 0 to 100.');
}

async function list(request: Request): Promise<0> {
  const info = await describe(request);
  const routing = routingOf(info);
  const known = (info?.versionSummaries ?? []).flatMap(({ deploymentVersion }) => versionIn(deploymentVersion) ?? []);
  const versions = await Promise.all(
    known.map(async (version) => ({
      buildId: version.buildId,
      share: shareOf(version.buildId, routing),
      isPolling: (await unpolledBy(request, version)).length === 0,
    })),
  );
  const unversioned = shareOf(null, routing);
  if (request.isJson) {
    request.print(JSON.stringify({ deploymentName: request.deploymentName, versions, unversioned }));
    return 0;
  }
  for (const { buildId, share, isPolling } of versions)
    request.print(
      `${buildId}  gets ${share} % of the tasks  ${isPolling ? 'its workers poll' : 'no worker of it polls'}`,
    );
  request.print(`workers without a version get ${unversioned} %`);
  return 0;
}

function shareOf(buildId: string | null, { current, ramping, percent }: Routing): number {
  const rampedShare = ramping === null ? 0 : percent;
  if (buildId !== null && buildId === ramping) return rampedShare;
  return buildId === current ? 100 - rampedShare : 0;
}

/** Nothing is routed to a version before its workers poll: its tasks would wait for them. */
async function route(request: Request, version: WorkerVersion | null, wanted: Routing): Promise<0 | 1> {
  const name = version?.buildId ?? 'without a version';
  const unpolled = await untilPolled(request, version);
  if (unpolled.length > 0) {
    const message = `No worker ${version === null ? name : `of ${name}`} polls the task queues ${unpolled.join(', ')}: start its workers first.`;
    return printRejection(request, { message, isJson: request.isJson, subject: { buildId: version?.buildId ?? null } });
  }
  const before = routingOf(await describe(request));
  const { database, initiator } = request;
  // Shows that the command was begun, whatever Temporal answers.
  await database.transaction(async (tx) =>
    audit(tx, 'all', { action: 'routed', initiator, before: { ...before }, after: { ...wanted } }),
  );
  await (wanted.ramping === null ? setCurrent(request, before, wanted) : setRamping(request, wanted));
  if (request.isJson) request.print(JSON.stringify({ before, after: wanted }));
  else if (wanted.ramping === null) request.print(`Workers ${version === null ? name : `of ${name}`} get all tasks.`);
  else request.print(`Workers of ${name} get ${wanted.percent} % of the tasks.`);
  return 0;
}

async function untilPolled(request: Request, version: WorkerVersion | null): Promise<readonly string[]> {
  const endsAt = performance.now() + (request.answerTimeoutMs ?? POLLING_MS_MAX);
  for (;;) {
    const unpolled = await unpolledBy(request, version);
    if (unpolled.length === 0 || performance.now() > endsAt) return unpolled;
    await sleep(LOOK_AGAIN_MS);
  }
}

function unpolledBy({ temporal: { client, connection } }: Request, version: WorkerVersion | null) {
  return findUnpolledQueues(connection, client.options.namespace, version);
}

async function setCurrent(request: Request, before: Routing, { current }: Routing): Promise<void> {
  const { connection } = request.temporal;
  // A release that has a share would keep it.
  if (before.ramping !== null && before.ramping !== current) await setRamping(request, NO_RAMP);
  if (current === before.current) return;
  const wanted = { ...addressOf(request), buildId: current ?? '', ignoreMissingTaskQueues: false };
  await answered(request, () => connection.workflowService.setWorkerDeploymentCurrentVersion(wanted));
}

const NO_RAMP = { ramping: null, percent: 0 };

async function setRamping(request: Request, { ramping, percent }: Pick<Routing, 'ramping' | 'percent'>): Promise<void> {
  const { connection } = request.temporal;
  const wanted = { ...addressOf(request), buildId: ramping ?? '', percentage: percent, ignoreMissingTaskQueues: false };
  await answered(request, () => connection.workflowService.setWorkerDeploymentRampingVersion(wanted));
}

const NOT_FOUND = 5;

type Deployment = temporal.api.deployment.v1.IWorkerDeploymentInfo;

/** Null before the first worker of the deployment has polled. */
function describe(request: Request): Promise<Deployment | null> {
  const { connection } = request.temporal;
  return answered(request, async () => {
    try {
      const { workerDeploymentInfo } = await connection.workflowService.describeWorkerDeployment(addressOf(request));
      return workerDeploymentInfo ?? null;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return null;
      throw error;
    }
  });
}

function addressOf({ deploymentName, temporal: { client }, initiator }: Request) {
  return { namespace: client.options.namespace, deploymentName, identity: initiator.actor };
}

function routingOf(deployment: Deployment | null): Routing {
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } =
    deployment?.routingConfig ?? {};
  return {
    current: versionIn(currentDeploymentVersion)?.buildId ?? null,
    ramping: versionIn(rampingDeploymentVersion)?.buildId ?? null,
    percent: rampingVersionPercentage ?? 0,
  };
}

async function answered<Answer>({ temporal }: Request, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await temporal.connection.withDeadline(Date.now() + ANSWER_MS_MAX, call);
  } catch (error) {
    const cause = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
    throw new ActionableError(`Temporal does not carry that out (${errorMessage(cause)}). It may be given again.`);
  }
}
