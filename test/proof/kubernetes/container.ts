import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../harness/api.ts';

/** Where the files of an image are, and the node that runs them. */
export interface ImageFolders {
  readonly node: string;
  readonly folderOf: (image: string) => string;
}

export interface Container {
  /** Its exit status; null if a signal ended it. */
  readonly exited: Promise<number | null>;
  isRunning(): boolean;
  /** After a pause asks it to end, and kills it after the grace. */
  stop(pauseMs: number, graceMs: number): Promise<number | null>;
}

interface ContainerOptions {
  readonly container: Json;
  readonly volumes: readonly Json[];
  readonly address: string;
  readonly images: ImageFolders;
  readonly read: (kind: 'secrets' | 'configmaps', name: string) => Promise<Json>;
  readonly print: (text: string) => void;
}

/** The user of the image, whom root can become. */
const USER = 1_000;
const IS_ROOT = process.getuid?.() === 0;

/** Those that run, none of which outlives this process. */
const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** The container's command with its environment and nothing else, in the folder that the image has. */
export async function startContainer(options: ContainerOptions): Promise<Container> {
  const { container, images, print } = options;
  const files = mkdtempSync(join(tmpdir(), 'pod-'));
  chmodSync(files, 0o755);
  const mounts = await mountsOf(options, files);
  const environment: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: '/tmp' };
  for (const variable of container.env) environment[variable.name] = mounted(await textOf(variable, options), mounts);
  const [program, ...words] = container.command;
  const child = spawn(program === 'node' ? images.node : program, words, {
    cwd: images.folderOf(container.image),
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(IS_ROOT ? { uid: USER, gid: USER } : {}),
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', print);
  children.add(child);
  let isRunning = true;
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (status) => {
      children.delete(child);
      isRunning = false;
      rmSync(files, { recursive: true, force: true });
      resolve(status);
    });
  });
  return {
    exited,
    isRunning: () => isRunning,
    stop: async (pauseMs, graceMs) => {
      if (isRunning) await Promise.race([exited, sleep(pauseMs)]);
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), graceMs);
      const status = await exited;
      clearTimeout(killing);
      return status;
    },
  };
}

/** Files of mounted ConfigMaps, by the path of the mount. */
async function mountsOf({ container, volumes, read }: ContainerOptions, files: string): Promise<Map<string, string>> {
  const mounts = new Map<string, string>();
  for (const { name, mountPath } of container.volumeMounts) {
    const volume = volumes.find((one) => one.name === name);
    if (volume?.configMap === undefined) continue;
    const { data } = await read('configmaps', volume.configMap.name);
    for (const [file, text] of Object.entries<string>(data)) writeFileSync(join(files, file), text);
    mounts.set(mountPath, files);
  }
  return mounts;
}

/** Nothing can be mounted here: a path below a mount is that of the files. */
function mounted(value: string, mounts: ReadonlyMap<string, string>): string {
  for (const [path, folder] of mounts) if (value.startsWith(`${path}/`)) return value.replace(path, folder);
  return value;
}

async function textOf({ value, valueFrom }: Json, { address, read }: ContainerOptions): Promise<string> {
  if (value !== undefined) return value;
  if (valueFrom.fieldRef?.fieldPath === 'status.podIP') return address;
  const { name, key } = valueFrom.secretKeyRef;
  const { data } = await read('secrets', name);
  return Buffer.from(data[key], 'base64').toString('utf8');
}
