import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../harness/api.ts';
import { type Container, type ImageFolders, startContainer } from './container.ts';
import type { ControlPlane } from './control-plane.ts';

/**
 * Does what the node of a cluster does with the pods of a namespace, as processes of this machine, each pod at a loopback address of its
 * own: init containers one after another, then the container with its readiness and its restarts, and its orderly end. It kills no
 * container that is not live.
 */
export interface Kubelet {
  /** What the containers of a pod have printed, by the pod's name. */
  readonly output: ReadonlyMap<string, string>;
  /** How containers of ready pods that were taken away ended: exit statuses, and null for those that had to be killed. */
  readonly ended: readonly { readonly pod: string; readonly status: number | null }[];
  close(): Promise<void>;
}

const LOOK_MS = 200;
const RESTART_MS = 5_000;

/** Taken away while it waited. */
class PodGone extends Error {}

interface Pod {
  readonly name: string;
  readonly address: string;
  container: Container | null;
  isLeaving: boolean;
  isReady: boolean;
  readyChangedAt: Date;
  restarts: number;
}

export function startKubelet(plane: ControlPlane, namespace: string, images: ImageFolders): Kubelet {
  const pods = new Map<string, Pod>();
  const output = new Map<string, string>();
  const ended: { pod: string; status: number | null }[] = [];
  const path = `/api/v1/namespaces/${namespace}/pods`;
  let isOpen = true;
  let addresses = 0;
  const isWanted = (pod: Pod) => isOpen && !pod.isLeaving;

  async function setStatus(pod: Pod, container: Json, phase: string, isReady: boolean): Promise<void> {
    if (isReady !== pod.isReady) pod.readyChangedAt = new Date();
    pod.isReady = isReady;
    const state = phase === 'Running' ? { running: {} } : { waiting: { reason: phase } };
    const { name, image } = container;
    await plane.call('PATCH', `${path}/${pod.name}/status`, {
      status: {
        phase,
        podIP: pod.address,
        podIPs: [{ ip: pod.address }],
        conditions: ['Ready', 'ContainersReady'].map((type) => ({
          type,
          status: isReady ? 'True' : 'False',
          lastTransitionTime: pod.readyChangedAt,
        })),
        containerStatuses: [{ name, image, imageID: image, ready: isReady, restartCount: pod.restarts, state }],
      },
    });
  }

  /** A pod waits for what it mounts. */
  async function read(pod: Pod, address: string): Promise<Json> {
    while (isWanted(pod)) {
      const found = await plane.call('GET', address);
      if (found !== null) return found;
      await sleep(LOOK_MS);
    }
    throw new PodGone();
  }

  async function start(pod: Pod, container: Json, spec: Json): Promise<Container> {
    pod.container = await startContainer({
      container,
      volumes: spec.volumes,
      address: pod.address,
      images,
      read: (kind, name) => read(pod, `/api/v1/namespaces/${namespace}/${kind}/${name}`),
      print: (text) => output.set(pod.name, (output.get(pod.name) ?? '') + text),
    });
    return pod.container;
  }

  async function live(pod: Pod, spec: Json): Promise<void> {
    await plane.call('POST', `${path}/${pod.name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod.name },
      target: { kind: 'Node', name: 'this-machine' },
    });
    const [container] = spec.containers;
    await setStatus(pod, container, 'Pending', false);
    for (const first of spec.initContainers ?? []) {
      const { exited } = await start(pod, first, spec);
      if ((await exited) !== 0) return await setStatus(pod, container, 'Failed', false);
    }
    for (; isWanted(pod); pod.restarts += 1) {
      const running = await start(pod, container, spec);
      if (container.readinessProbe === undefined) await setStatus(pod, container, 'Running', true);
      else await probe(pod, container, running);
      const status = await running.exited;
      if (!isWanted(pod)) return;
      if (spec.restartPolicy === 'Never' || (spec.restartPolicy === 'OnFailure' && status === 0))
        return await setStatus(pod, container, status === 0 ? 'Succeeded' : 'Failed', false);
      await setStatus(pod, container, 'Running', false);
      await sleep(RESTART_MS);
    }
  }

  /** Until the container ends. */
  async function probe(pod: Pod, container: Json, running: Container): Promise<void> {
    const { path: target, port } = container.readinessProbe.httpGet;
    const number = container.ports.find(({ name }: Json) => name === port).containerPort;
    let before: boolean | null = null;
    while (isWanted(pod) && running.isRunning()) {
      const answer = await fetch(`http://${pod.address}:${number}${target}`).catch(() => null);
      await answer?.body?.cancel();
      const isReady = answer?.ok === true;
      if (isReady !== before && isWanted(pod)) await setStatus(pod, container, 'Running', isReady);
      before = isReady;
      await sleep(LOOK_MS);
    }
  }

  async function takeAway(pod: Pod, { spec, metadata }: Json): Promise<void> {
    if (pod.isLeaving) return;
    pod.isLeaving = true;
    const { container } = pod;
    const pauseSeconds = spec.containers[0].lifecycle?.preStop?.sleep?.seconds ?? 0;
    const graceMs = (metadata.deletionGracePeriodSeconds - pauseSeconds) * 1_000;
    const isServing = pod.isReady && spec.containers[0].readinessProbe !== undefined;
    const status = (await container?.stop(pauseSeconds * 1_000, graceMs)) ?? null;
    if (isServing) ended.push({ pod: pod.name, status });
    await plane.call('DELETE', `${path}/${pod.name}`, { gracePeriodSeconds: 0 });
  }

  const work: Promise<void>[] = [];
  const failures: unknown[] = [];
  const begin = (doing: Promise<void>) =>
    work.push(
      doing.catch((error) => {
        if (error instanceof PodGone) return;
        console.error(error);
        failures.push(error);
      }),
    );

  async function look(): Promise<void> {
    const { items } = await plane.call('GET', path);
    for (const found of items) {
      const { name, deletionTimestamp } = found.metadata;
      const known = pods.get(name);
      if (known === undefined && deletionTimestamp === undefined) {
        addresses += 1;
        const pod = {
          ...{ name, address: `127.77.0.${addresses}`, container: null, isLeaving: false },
          ...{ isReady: false, readyChangedAt: new Date(), restarts: 0 },
        };
        pods.set(name, pod);
        begin(live(pod, found.spec));
      } else if (known !== undefined && deletionTimestamp !== undefined) {
        begin(takeAway(known, found));
      }
    }
  }

  const looking = (async () => {
    while (isOpen) {
      await look().catch((error) => void failures.push(error));
      await sleep(LOOK_MS);
    }
  })();

  return {
    output,
    ended,
    close: async () => {
      isOpen = false;
      await looking;
      await Promise.all([...pods.values()].map(({ container }) => container?.stop(0, 0)));
      await Promise.all(work);
      if (failures.length > 0) throw failures[0];
    },
  };
}
