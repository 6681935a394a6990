import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import t from 'tap';
import { ZipFile } from 'yazl';
import { checkGpu, chooseDevice, explain } from '../../engine/runtime/gpu.ts';
import { download, findWheel, fitsRequirement, requirementsOf, unpack } from '../../scripts/gpu/wheel.ts';

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
    if (request.url === '/simple/onnxruntime-gpu/') response.setHeader('content-type', 'application/json').end(JSON.stringify({ files }));
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
