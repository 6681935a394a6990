import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import t, { type Test } from 'tap';
import { ZipFile } from 'yazl';
import { checkGpu, chooseDevice, explain, PROVIDERS, runtimeVersion } from '../../engine/runtime/gpu.ts';
import { install } from '../../scripts/gpu/install.ts';
import { download, findWheel, fitsRequirement, requirementsOf, unpack } from '../../scripts/gpu/wheel.ts';
import { noDisks, smallDisk } from '../support/processes/disk.ts';
import { ROOT } from '../support/processes/processes.ts';

/** An entry of the package index. */
async function wheel(folder: string, name: string): Promise<string> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('provider'), 'onnxruntime/capi/libonnxruntime_providers_cuda.so');
  zip.addBuffer(Buffer.from('tensorrt'), 'onnxruntime/capi/libonnxruntime_providers_tensorrt.so');
  zip.addBuffer(Buffer.from('cublas'), 'nvidia/cu13/lib/libcublas.so.13');
  zip.addBuffer(Buffer.from('code'), 'onnxruntime/__init__.py');
  zip.addBuffer(Buffer.from('Requires-Dist: numpy>=1.21\nRequires-Dist: nvidia-cufft~=12.0; extra == "cuda"\n'), 'x.dist-info/METADATA');
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(join(folder, name)));
  return join(folder, name);
}

t.test('unpack() writes the required shared libraries, and returns the wheels that the extras name', async (t) => {
  const folder = t.testdir({ lib: {} });
  const path = await wheel(folder, 'onnxruntime_gpu-1.30.0-cp311-cp311-manylinux_2_28_x86_64.whl');
  const named = await unpack(path, join(folder, 'lib'), (name) => !name.includes('tensorrt'));
  t.strictSame(readdirSync(join(folder, 'lib')).sort(), ['libcublas.so.13', 'libonnxruntime_providers_cuda.so']);
  t.ok(statSync(join(folder, 'lib', 'libcublas.so.13')).mode & 0o100);
  t.strictSame(named, ['nvidia-cufft~=12.0']);
});

t.test('findWheel() selects the required version for this processor, and download() verifies it', async (t) => {
  const folder = t.testdir();
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const name = `onnxruntime_gpu-1.30.0-cp311-cp311-manylinux_2_28_${arch}.whl`;
  const bytes = readFileSync(await wheel(folder, name));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = (filename: string) => ({ filename, url: `/files/${filename}`, size: bytes.length, hashes: { sha256 } });
  const files = [
    file(name),
    file(name.replace('1.30.0', '1.31.1')),
    file(name.replace(arch, 'other')),
    file('onnxruntime_gpu-1.30.0-cp311-win_amd64.whl'),
  ];
  let damaged = false;
  const server = createServer((request, response) => {
    if (request.url === '/simple/html/') response.end('<!DOCTYPE html>');
    else if (request.url === '/files/broken')
      response.writeHead(200, { 'content-length': 9 }).write('half', () => setTimeout(() => response.destroy(), 50));
    else if (request.url === '/simple/onnxruntime-gpu/')
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ files }));
    else response.end(damaged ? bytes.subarray(1) : bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const index = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`;
  const found = await findWheel('onnxruntime-gpu', (version) => version === '1.30.0', index);
  t.equal(found.filename, name);
  mkdirSync(join(folder, 'got'));
  t.ok(readFileSync(await download(found, join(folder, 'got'), () => {})).equals(bytes));
  damaged = true;
  await t.rejects(
    download(found, join(folder, 'got'), () => {}),
    /checksum differs/,
  );
  await t.rejects(
    findWheel('onnxruntime-gpu', (version) => version === '9.9', index),
    /no wheel of the required version/,
  );
  await t.rejects(
    findWheel('x', () => true, 'http://127.0.0.1:1/simple'),
    /gpu install --from FOLDER/,
  );
  await t.rejects(
    findWheel('html', () => true, index),
    /^Cannot use http.*: it did not answer in the JSON of package indexes \(PEP 691\); download the wheels elsewhere/,
  );
  for (const url of [`${index}/../files/broken`, 'http://127.0.0.1:1/x'])
    await t.rejects(
      download({ ...found, url }, join(folder, 'got'), () => {}),
      /^Cannot download onnxruntime_gpu.* from 127\.0\.0\.1:\d+ \(.+\): try again, or download the wheels elsewhere/,
    );
  t.match(await findWheel('onnxruntime-gpu', (version) => version === '1.30.0', `${index}/`), found, 'with a slash at the end');
});

/** A folder with an installation, and its content. */
async function installed(t: Test, version: string) {
  const providers = (text: string) => Object.fromEntries(PROVIDERS.map((name) => [name, text]));
  const root = t.testdir({ first: { ...providers(version), 'libcublas.so.13': 'cublas' }, next: providers('next'), runtime: {} });
  const places = { libraries: join(root, '.gpu', 'lib'), runtime: join(root, 'runtime') };
  const from = (folder: string) => install({ from: folder, places, onStage: () => {} });
  await from(join(root, 'first'));
  const content = () => [...new Set(PROVIDERS.map((name) => readFileSync(join(places.runtime, name), 'utf8')))].join();
  return { root, places, from, content };
}

t.test('install() leaves the installation as it was if it cannot replace it, and removes what it has written', async (t) => {
  const { root, places, from, content } = await installed(t, 'first');
  const [incomplete, other] = [join(root, 'incomplete'), join(root, 'other')];
  for (const folder of [incomplete, other]) mkdirSync(folder);
  writeFileSync(join(incomplete, PROVIDERS[0]!), 'half');
  await wheel(other, 'onnxruntime_gpu-0.1.0-cp311-cp311-manylinux_2_28_x86_64.whl');
  const offline = () => install({ index: 'http://127.0.0.1:1/simple', places, onStage: () => {} });
  for (const [attempt, message] of [
    [() => from(incomplete), /incomplete has no libonnxruntime_providers_cuda\.so; expected those of onnxruntime \d/],
    [() => from(other), /Cannot use onnxruntime_gpu-0\.1\.0/],
    [() => from(join(root, 'nowhere')), /ENOENT/],
    [offline, /gpu install --from FOLDER/],
  ] as const) {
    await t.rejects(attempt(), message);
    t.equal(content(), 'first');
    t.strictSame(readdirSync(join(root, '.gpu')), ['lib']);
  }
  t.strictSame((await from(join(root, 'next'))).sort(), [...PROVIDERS].sort(), 'none of the files replaced');
  t.equal(content(), 'next');
  t.strictSame(readdirSync(join(root, '.gpu')), ['lib']);
});

t.test('install() says what is wrong with wheels of another version, cut short, or too large for the disk', async (t) => {
  const { root, places, from, content } = await installed(t, 'first');
  const given = (name: string) => {
    const folder = join(root, name);
    mkdirSync(folder);
    return folder;
  };
  const [nightly, cut] = [given('nightly'), given('cut')];
  await wheel(nightly, `onnxruntime_gpu-${runtimeVersion()}.dev20260101-cp311-cp311-manylinux_2_28_x86_64.whl`);
  await t.rejects(from(nightly), /it must be for onnxruntime \d/);
  truncateSync(await wheel(cut, 'nvidia_cublas-13.1.0-py3-none-manylinux_2_27_x86_64.whl'), 200);
  await t.rejects(from(cut), /^Cannot unpack nvidia_cublas-13\.1\.0\S+: it is cut short or damaged \(.*\); copy or download it again/);
  t.equal(content(), 'first');
  t.strictSame(readdirSync(join(root, '.gpu')), ['lib']);
  await t.test('on a full disk', { skip: noDisks() ?? false }, async (t) => {
    const disk = smallDisk(t, 300_000);
    const large = given('large');
    for (const name of PROVIDERS) writeFileSync(join(large, name), Buffer.alloc(200_000));
    const there = { libraries: join(disk.path, '.gpu', 'lib'), runtime: places.runtime };
    const message = /^Cannot install the CUDA provider in \S+\.gpu: the disk is full; nothing of it was kept/;
    await t.rejects(install({ from: large, places: there, onStage: () => {} }), message);
    t.strictSame(readdirSync(join(disk.path, '.gpu')), []);
  });
});

t.test('install() takes only the libraries of CUDA and its provider from wheels that pip has downloaded', async (t) => {
  const { root, places, from } = await installed(t, 'first');
  const downloaded = join(root, 'downloaded');
  mkdirSync(downloaded);
  for (const name of PROVIDERS) writeFileSync(join(downloaded, name), 'next');
  await wheel(downloaded, 'nvidia_cublas-13.1.0-py3-none-manylinux_2_27_x86_64.whl');
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('python'), 'numpy/_core/_simd.cpython-311-x86_64-linux-gnu.so');
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(join(downloaded, 'numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl')));
  t.strictSame((await from(downloaded)).sort(), ['libcublas.so.13', ...PROVIDERS].sort());
  t.equal(readFileSync(join(places.libraries, 'libcublas.so.13'), 'utf8'), 'cublas');
});

t.test('docs/deployment.md names the version of the wheels to download', async (t) => {
  t.match(
    readFileSync(join(ROOT, 'docs', 'deployment.md'), 'utf8'),
    `pip download --dest FOLDER 'onnxruntime-gpu[cuda,cudnn]==${runtimeVersion()}'`,
  );
});

t.test('install() from the installation itself keeps it, and refuses a temporary folder, which it would remove', async (t) => {
  const { root, places, from, content } = await installed(t, 'first');
  await from(places.libraries);
  t.equal(content(), 'first');
  t.equal(readFileSync(join(places.libraries, 'libcublas.so.13'), 'utf8'), 'cublas');
  const left = join(root, '.gpu', 'download-x');
  mkdirSync(left);
  await t.rejects(from(left), /download-x: it is a temporary folder of "gpu install"; move it elsewhere/);
  t.equal(content(), 'first');
  t.ok(statSync(left).isDirectory());
});

t.test('install() removes the downloads of killed installations, and spares those of running ones', async (t) => {
  const { root, from } = await installed(t, 'first');
  const running = `install-${process.ppid}-abcdef`;
  const own = `install-${process.pid}-abcdef`; // of an earlier process with this id, as in a container
  for (const name of ['download-abcdef', 'install-99999999-abcdef', own, running]) {
    mkdirSync(join(root, '.gpu', name));
    writeFileSync(join(root, '.gpu', name, 'x.whl'), 'part');
  }
  await from(join(root, 'next'));
  t.strictSame(readdirSync(join(root, '.gpu')), [running, 'lib']);
});

t.test('requirementsOf() and fitsRequirement() read the requirements of a wheel', async (t) => {
  const named = requirementsOf(
    'Requires-Dist: nvidia-cuda-nvrtc~=13.0; extra == "cuda"\nRequires-Dist: nvidia-cudnn-cu13~=9.0; extra == "cudnn"\n',
  );
  t.strictSame(named, ['nvidia-cuda-nvrtc~=13.0', 'nvidia-cudnn-cu13~=9.0']);
  const { project, fits } = fitsRequirement('nvidia-cudnn-cu13~=9.0');
  t.equal(project, 'nvidia-cudnn-cu13');
  t.strictSame(['9.0.1', '9.13.0', '10.0.0', '8.9'].map(fits), [true, true, false, false]);
  t.ok(fitsRequirement('nvidia-cublas').fits('13.1.0.3'));
});

t.test('explain() translates errors of the runtime into the missing component', async (t) => {
  const failed = (library: string) =>
    `Failed to load library /x/libonnxruntime_providers_cuda.so with error: ${library}: cannot open shared object file: No such file or directory`;
  for (const [words, found, remedy] of [
    [failed('libcublasLt.so.13'), /CUDA library is missing: libcublasLt\.so\.13/, /gpu install/],
    [failed('libcudnn.so.9'), /cuDNN is missing/, /gpu install/],
    [failed('libcuda.so.1'), /NVIDIA driver is missing/, /nvidia-smi/],
    ['CUDA failure 100: no CUDA-capable device is detected ; GPU=-1', /no CUDA-capable device/, /nvidia-smi/],
    ['CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version', /too old for this CUDA version/, /Update/],
    ['ended by SIGSEGV', /SIGSEGV/, /gpu install/],
  ] as const) {
    const state = explain(words);
    t.notOk(state.usable);
    t.match(state.found, found);
    t.match(state.remedy, remedy);
  }
});

t.test('chooseDevice() selects a GPU only if one is usable and the model supports it', async (t) => {
  t.equal(await chooseDevice('auto', ['cpu']), 'cpu', '8-bit networks');
  t.equal(await chooseDevice('cuda', ['cpu']), 'cuda', 'an explicit request is rejected later, with a message');
  const { usable } = await checkGpu();
  t.equal(await chooseDevice('auto', ['cuda', 'cpu']), usable ? 'cuda' : 'cpu');
});
