/**
 * Records the statements that the product sends in a test run: loaded into test processes and the programs that they start when
 * TEST_STATEMENTS names a folder. Programs have connections with names of their own; an API in a test process (api/client.ts) calls the database
 * in an asynchronous context of its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

const PRODUCT = /^longhand-(api|engine|courier)$/;
const folder = process.env.TEST_STATEMENTS;
const { startup, parse, bind } = pg.Connection.prototype;
const ours = new WeakSet();
const texts = new WeakMap(); // of each connection, by the name of the prepared statement
const seen = new Set();
const product = new AsyncLocalStorage();

if (folder) {
  globalThis[Symbol.for('longhand.product')] = product;
  pg.Connection.prototype.startup = function (config) {
    if (PRODUCT.test(config.application_name)) ours.add(this);
    return startup.call(this, config);
  };
  pg.Connection.prototype.parse = function (query, ...rest) {
    if (!texts.has(this)) texts.set(this, new Map());
    texts.get(this).set(query.name ?? '', query.text);
    return parse.call(this, query, ...rest);
  };
  pg.Connection.prototype.bind = function (config, ...rest) {
    const text = texts.get(this)?.get(config.statement ?? '');
    if (text && !seen.has(text) && (ours.has(this) || product.getStore())) {
      seen.add(text);
      appendFileSync(join(folder, String(process.pid)), `${JSON.stringify(text)}\n`);
    }
    return bind.call(this, config, ...rest);
  };
}
