/**
 * `navigator`, which Node has since 21: without it, `pg` looks for Cloudflare by loading Node's `fetch`, which takes 40 ms of CPU time in each
 * of the processes that the tests start.
 */
globalThis.navigator ??= { userAgent: `Node.js/${process.versions.node.split('.')[0]}` };
