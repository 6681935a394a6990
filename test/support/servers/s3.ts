import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { freePort, type Running, start } from '../processes/processes.ts';

export interface S3 {
  endpoint: string;
  /** Creates a bucket and returns a location in it, as for LONGHAND_MEDIA. */
  place(): Promise<string>;
  /** Kills the server; connections are refused until it is started again, with its stored objects. */
  down(): Promise<void>;
  up(): Promise<void>;
}

export const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'longhand', AWS_SECRET_ACCESS_KEY: 'a secret of the tests' };

/** An S3 server, VersityGW, with its own folder; its credentials are set in this process. `program` is its path. */
export async function startS3(t: { teardown(after: () => unknown): void }, program: string): Promise<S3> {
  Object.assign(process.env, CREDENTIALS);
  const folder = mkdtempSync(join(tmpdir(), 'longhand-s3-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true })); // runs after the server was stopped
  for (const name of ['data', 'about']) mkdirSync(join(folder, name));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const options = ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', join(folder, 'about'), join(folder, 'data')];
  let server: Running;
  const up = async () => {
    server = start(t, program, options, {
      ROOT_ACCESS_KEY: CREDENTIALS.AWS_ACCESS_KEY_ID,
      ROOT_SECRET_KEY: CREDENTIALS.AWS_SECRET_ACCESS_KEY,
    });
    while (!(await answers(port))) {
      if (server.child.exitCode !== null) throw new Error(`The S3 server ended: ${server.output.stdout}${server.output.stderr}`);
      await sleep(50);
    }
  };
  await up();
  return {
    endpoint,
    up,
    down: async () => void (await server.stop('SIGKILL')),
    async place() {
      const bucket = `test-${randomUUID()}`;
      const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      client.destroy();
      return `s3://${bucket}/some/prefix`;
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
