import { DefaultLogger, Runtime } from '@temporalio/worker';

// Once per process, however many files of tests share it. The SDK's own log adds nothing to a failing test.
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
