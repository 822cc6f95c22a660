import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ActionableError, errorMessage } from '../../cli/common/actionable-error.ts';
import { underFileLock } from '../../cli/common/processes.ts';
import { runLongCommand } from '../common/long-command.ts';
import { findOnPath, userCacheDirectory } from '../common/user-cache.ts';

const TEST_SERVER_VERSION = '1.32.0';
/** The plugin is pinned too, so that the download does not depend on the installed Maven. */
const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

const PROJECT = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>time-skipping-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${TEST_SERVER_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/**
 * Path of Temporal's time-skipping test server, for `executable: { type: 'existing-path', path }` of
 * `@temporalio/testing`. Maven fetches its jars once into the user's cache.
 */
export async function timeSkippingServer(onProgress: (line: string) => void = () => {}): Promise<string> {
  const java = findOnPath('java');
  if (java === undefined)
    throw new ActionableError(
      'No Java found. Install a Java 17 or later: the time-skipping test server of the tests runs on it.',
    );
  const directory = join(userCacheDirectory(), `test-server-${TEST_SERVER_VERSION}`);
  const launcher = join(directory, 'time-skipping-server');
  if (existsSync(launcher)) return launcher;
  return underFileLock(
    join(userCacheDirectory(), 'test-server.lock'),
    async () => {
      if (!existsSync(launcher)) await fetchJars(directory, onProgress);
      return launcher;
    },
    () => onProgress('Another process is getting the time-skipping test server; waiting for it …'),
  );
}

async function fetchJars(directory: string, onProgress: (line: string) => void): Promise<void> {
  const maven = findOnPath('mvn');
  if (maven === undefined) {
    throw new ActionableError(
      'No Maven (mvn) found. Install it: the tests fetch the jars of the time-skipping test server with it.',
    );
  }
  const staging = mkdtempSync(join(userCacheDirectory(), 'staging-'));
  try {
    writeFileSync(join(staging, 'pom.xml'), PROJECT);
    await runLongCommand({
      command: maven,
      arguments: [
        '-B',
        '-f',
        join(staging, 'pom.xml'),
        `${DEPENDENCY_PLUGIN}:copy-dependencies`,
        '-DincludeScope=runtime',
        `-DoutputDirectory=${join(staging, 'jars')}`,
      ],
      title: 'Fetching the time-skipping test server (33 MB, once)',
      onProgress,
      cwd: staging,
    });
    writeFileSync(join(staging, 'time-skipping-server'), LAUNCHER);
    chmodSync(join(staging, 'time-skipping-server'), 0o755);
    rmSync(directory, { recursive: true, force: true });
    renameSync(staging, directory);
  } catch (error) {
    throw new ActionableError(`The time-skipping test server cannot be fetched with Maven: ${errorMessage(error)}`, {
      cause: error,
    });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Finds the jars in the launcher's folder. Tuned for a quick start. */
const LAUNCHER = `#!/bin/sh
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx512m -cp "$(dirname "$0")/jars/*" io.temporal.testserver.TestServer "$@"
`;
