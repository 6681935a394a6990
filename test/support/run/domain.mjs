/**
 * Takes the place of `async-hook-domain`, by which tap finds the test that an uncaught error belongs to. That package learns when every promise
 * is destroyed, which took at least 4 % of the CPU time of API tests; here each resource refers to its domain instead.
 */
import { createHook, executionAsyncResource } from 'node:async_hooks';

const DOMAIN = Symbol('domain');

/** Receives errors that are thrown or rejected, and not caught, in what is started where it is created. */
export class Domain {
  destroyed = false;

  /** `onerror` receives the error and its origin: 'uncaughtException' or 'unhandledRejection'. */
  constructor(onerror) {
    this.onerror = onerror;
    this.parent = current();
    executionAsyncResource()[DOMAIN] = this;
  }

  /** Errors go to the parent from now on. */
  destroy() {
    this.destroyed = true;
  }
}

function current() {
  let domain = executionAsyncResource()[DOMAIN];
  while (domain?.destroyed) domain = domain.parent;
  return domain;
}

/** Returns whether a domain has received the error. Listeners that a test has added go first. */
function receive(error, origin) {
  const domain = current();
  if (!domain || process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException')) return false;
  domain.onerror(error, origin);
  return true;
}

createHook({
  init(_id, _type, _trigger, resource) {
    const domain = executionAsyncResource()[DOMAIN];
    if (domain) resource[DOMAIN] = domain;
  },
}).enable();

process.on('uncaughtExceptionMonitor', (error, origin) => {
  if (receive(error, origin)) process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null)); // this once
});

const emit = process.emit;
process.emit = function (name, ...values) {
  if (name === 'unhandledRejection' && !this.listenerCount(name)) return receive(values[0], name);
  return emit.call(this, name, ...values);
};
