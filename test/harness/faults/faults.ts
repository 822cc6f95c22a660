import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { PROCESS_KINDS, type ProcessKind, type ServiceProcess } from '../servers/service-process.ts';
import type { Link, WholeService } from '../servers/whole-service.ts';

export interface FaultPlan {
  /** Number of `kill -9` of each kind. */
  readonly killsEach: number;
  /** Default: all but the loops, which run within the APIs. */
  readonly kinds?: readonly ProcessKind[];
  /** Postgres ends one session of the service. */
  readonly sessions: number;
  /** SIGSTOP for some seconds. */
  readonly pauses: number;
  /** The receiver answers 503 for some seconds. */
  readonly receiverOutages: number;
  /** For some seconds the bank answers slowly, answers 503, or cuts the connection after the effect. */
  readonly bankFaults: number;
  /** A connection between two processes goes silent for some seconds, and is then cut. */
  readonly links: number;
  /** Faults of a further bank, and how one is inflicted. */
  readonly further?: { readonly count: number; readonly inflict: FurtherFault };
  readonly betweenMs: { readonly minimum: number; readonly maximum: number };
}

export interface FurtherFaults {
  readonly service: WholeService;
  readonly links: readonly Link[];
  readonly random: Random;
}

/** Resolves when it is over, with its name, or null if nothing was hit. */
export type FurtherFault = (of: FurtherFaults) => Promise<string | null>;

export interface FaultCounts {
  readonly kills: Record<ProcessKind, number>;
  readonly done: Record<string, number>;
}

const DOWN_MS_MAX = 1_500;
const PAUSE_MS_MIN = 2_000;
const PAUSE_MS_MAX = 5_000;
const OUTAGE_MS = 3_000;
/** The maximum exceeds the deadline of a statement. */
const LINK_MS_MIN = 1_000;
const LINK_MS_MAX = 12_000;

/** Carries out the plan in an order chosen by the seed; the effects of faults may overlap. */
export async function inflictFaults(
  service: WholeService,
  links: readonly Link[],
  random: Random,
  plan: FaultPlan,
  say: (line: string) => void = () => {},
): Promise<FaultCounts> {
  const counts: FaultCounts = {
    kills: { api: 0, worker: 0, temporal: 0, postgres: 0, sandbox: 0, loops: 0 },
    done: {},
  };
  const starting = new Map<ServiceProcess, Promise<void>>();
  const lasting: Promise<void>[] = [];
  for (const fault of shuffled(planned(plan), random)) {
    const { minimum, maximum } = plan.betweenMs;
    await sleep(random.whole(minimum, maximum));
    if (fault.kind === 'kill') {
      const process = random.pick(service.processes.filter(({ kind }) => kind === fault.of));
      // A kill counts only if the process was serving.
      await starting.get(process);
      await process.kill();
      counts.kills[fault.of] += 1;
      say(`kill -9 ${process.name}`);
      const downMs = random.whole(0, DOWN_MS_MAX);
      const again = sleep(downMs).then(() => process.start());
      again.catch(() => {});
      starting.set(process, again);
      // No other process can start without these.
      if (fault.of === 'postgres' || fault.of === 'temporal') await again;
    } else if (fault.kind === 'further') {
      const over = fault.inflict({ service, links, random }).then((name) => {
        if (name === null) return;
        counts.done[name] = (counts.done[name] ?? 0) + 1;
        say(name);
      });
      lasting.push(over);
    } else {
      counts.done[fault.kind] = (counts.done[fault.kind] ?? 0) + 1;
      lasting.push(inflict(service, random, links, fault.kind, say));
    }
  }
  await Promise.all([...starting.values(), ...lasting]);
  return counts;
}

type Fault =
  | { readonly kind: 'kill'; readonly of: ProcessKind }
  | { readonly kind: 'further'; readonly inflict: FurtherFault }
  | { readonly kind: 'session' | 'pause' | 'receiver' | 'bank' | 'link' };

function planned(plan: FaultPlan): Fault[] {
  const times = (count: number, fault: Fault) => Array.from({ length: count }, () => fault);
  return [
    ...(plan.kinds ?? PROCESS_KINDS).flatMap((of) => times(plan.killsEach, { kind: 'kill', of })),
    ...times(plan.sessions, { kind: 'session' }),
    ...times(plan.pauses, { kind: 'pause' }),
    ...times(plan.receiverOutages, { kind: 'receiver' }),
    ...times(plan.bankFaults, { kind: 'bank' }),
    ...times(plan.links, { kind: 'link' }),
    ...(plan.further === undefined
      ? []
      : times(plan.further.count, { kind: 'further', inflict: plan.further.inflict })),
  ];
}

function shuffled(faults: readonly Fault[], random: Random): Fault[] {
  const left = [...faults];
  const order: Fault[] = [];
  while (left.length > 0) order.push(...left.splice(random.whole(0, left.length - 1), 1));
  return order;
}

async function inflict(
  service: WholeService,
  random: Random,
  links: readonly Link[],
  kind: 'session' | 'pause' | 'receiver' | 'bank' | 'link',
  say: (line: string) => void,
): Promise<void> {
  switch (kind) {
    case 'session':
      say('one session of Postgres ended');
      await service.database.reader
        .statement(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name IN ('api', 'worker') ORDER BY random() LIMIT 1`,
          [],
        )
        .catch(() => {});
      return;
    case 'pause': {
      const process = random.pick(service.processes.filter(({ isUp }) => isUp));
      const durationMs = random.whole(PAUSE_MS_MIN, PAUSE_MS_MAX);
      say(`SIGSTOP ${process.name} for ${durationMs} ms`);
      return process.pause(durationMs);
    }
    case 'link': {
      const { name, proxy } = random.pick(links);
      const durationMs = random.whole(LINK_MS_MIN, LINK_MS_MAX);
      say(`the way from ${name} is silent for ${durationMs} ms`);
      proxy.hold();
      await sleep(durationMs);
      proxy.release();
      return;
    }
    case 'receiver':
      say('the receiver answers 503');
      service.receiver.answer((_message, response) => response.writeHead(503).end());
      await sleep(OUTAGE_MS);
      service.receiver.answer((_message, response) => response.writeHead(200).end());
      return;
    case 'bank':
      say('the bank is slow, and fails or cuts');
      await setBankFaults(service, { latencyMs: random.whole(0, 500), errorRate: 0.2, cutRate: 0.2 });
      await sleep(OUTAGE_MS);
      // A killed bank has forgotten its faults; a bank too busy to answer gets them again.
      while (!(await setBankFaults(service, { latencyMs: 0, errorRate: 0, cutRate: 0 }))) await sleep(500);
  }
}

/** Whether the bank has applied them. */
async function setBankFaults(service: WholeService, faults: Readonly<Record<string, number>>): Promise<boolean> {
  return fetch(`${service.sandboxUrl}/bank/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
    signal: AbortSignal.timeout(5_000),
  }).then(
    (response) => response.ok,
    () => false,
  );
}
