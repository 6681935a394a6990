"""Trains a small CTC model on synthesised digits, in numpy, and writes it as an onnx-asr folder beside this script.

Usage: make.py (needs numpy, onnx, espeak-ng and ffmpeg; 2,148 s at a load average of 30). Speakers m5 and f4 and rates over
185 words per minute are held out for tests.
"""
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "../features"))
import features  # noqa: E402

DIGITS = "zero one two three four five six seven eight nine".split()
LETTERS = sorted({"\u2581" + word[0] for word in DIGITS} | {letter for word in DIGITS for letter in word[1:]})
TOKENS = [*LETTERS, "<blk>"]
BLANK = len(LETTERS)
WIDTH, TAPS, STRIDES = 88, 5, (2, 2, 1)
VOICES = [f"{accent}+{speaker}" for accent in ("en-us", "en-gb", "en-gb-scotland") for speaker in ("m1", "m2", "m3", "m4", "m7", "f1", "f2", "f3", "f5")]
rng = np.random.default_rng(1)


def spoken(words, voice, rate, pitch):
    wav = subprocess.check_output(["espeak-ng", "-v", voice, "-s", str(rate), "-p", str(pitch), "--stdout", words])
    command = ["ffmpeg", "-v", "error", "-i", "-", "-ac", "1", "-ar", "16000", "-f", "f32le", "-"]
    return np.frombuffer(subprocess.run(command, input=wav, stdout=subprocess.PIPE, check=True).stdout, np.float32)


def letters(words):
    return [TOKENS.index(("\u2581" if i == 0 else "") + letter) for word in words for i, letter in enumerate(word)]


def utterance():
    words = list(rng.choice(DIGITS, rng.integers(2, 6)))
    text = (", " if rng.random() < 0.5 else " ").join(words)
    samples = spoken(text, str(rng.choice(VOICES)), rng.integers(120, 186), rng.integers(30, 71))
    edges = [np.zeros(rng.integers(0, 6000), np.float32) for _ in range(2)]
    samples = np.concatenate([edges[0], samples, edges[1]])
    noise = rng.standard_normal(len(samples)).astype(np.float32) * 10 ** rng.uniform(-4.5, -2)
    return features.nemo(samples + noise, 80).T.astype(np.float32), letters(words)


def shape(layer):
    return (80 if layer == 0 else WIDTH) * TAPS, WIDTH


def forward(weights, x):
    kept = []
    for layer, stride in enumerate(STRIDES):
        padded = np.pad(x, ((2, 2), (0, 0)))
        columns = np.lib.stride_tricks.sliding_window_view(padded, TAPS, axis=0)[::stride].reshape(-1, shape(layer)[0])
        x = np.maximum(0, columns @ weights[2 * layer] + weights[2 * layer + 1])
        kept.append((columns, x))
    scores = x @ weights[6] + weights[7]
    scores -= scores.max(1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(1, keepdims=True)), kept


def ctc(logs, labels):
    """Returns the loss and its gradient with respect to the scores before the softmax."""
    path = [BLANK] + [token for label in labels for token in (label, BLANK)]
    n, frames = len(path), len(logs)
    if frames < len(labels) + 1:
        return None
    skip = np.array([i > 1 and path[i] != BLANK and path[i] != path[i - 2] for i in range(n)])

    def swept(scores, skips):
        table = np.full((frames, n), -1e30)
        table[0, :2] = scores[0, :2]
        for t in range(1, frames):
            before = table[t - 1]
            one = np.append(-1e30, before[:-1])
            two = np.where(skips, np.append([-1e30, -1e30], before[:-2]), -1e30)
            table[t] = np.logaddexp(np.logaddexp(before, one), two) + scores[t]
        return table

    scores = logs[:, path].astype(np.float64)
    ahead = swept(scores, skip)
    back = swept(scores[::-1, ::-1], np.append([False, False], skip[2:][::-1]))[::-1, ::-1]
    total = np.logaddexp(ahead[-1, -1], ahead[-1, -2])
    share = np.exp(ahead + back - scores - total)
    wanted = np.zeros_like(logs)
    np.add.at(wanted.T, path, share.T)
    return -total, np.exp(logs) - wanted


def backward(weights, kept, slope):
    grads = [None] * 8
    grads[6], grads[7] = kept[-1][1].T @ slope, slope.sum(0)
    slope = slope @ weights[6].T
    for layer in (2, 1, 0):
        columns, active = kept[layer]
        slope = slope * (active > 0)
        grads[2 * layer], grads[2 * layer + 1] = columns.T @ slope, slope.sum(0)
        if layer == 0:
            break
        spread = (slope @ weights[2 * layer].T).reshape(len(slope), -1, TAPS)
        length, stride = len(kept[layer - 1][1]), STRIDES[layer]
        padded = np.zeros((length + 4, WIDTH), np.float32)
        for tap in range(TAPS):
            padded[tap : tap + stride * len(slope) : stride][: len(slope)] += spread[:, :, tap]
        slope = padded[2:-2]
    return grads


def train(pairs, epochs=26, batch=4):
    sizes = [shape(0), WIDTH, shape(1), WIDTH, shape(2), WIDTH, (WIDTH, len(TOKENS)), len(TOKENS)]
    weights = [np.float32(rng.standard_normal(s) * np.sqrt(2 / s[0])) if isinstance(s, tuple) else np.zeros(s, np.float32) for s in sizes]
    moments = [[np.zeros_like(w), np.zeros_like(w)] for w in weights]
    step = 0
    for epoch in range(epochs):
        losses = []
        for group in np.array_split(rng.permutation(len(pairs)), len(pairs) // batch):
            total = [np.zeros_like(w) for w in weights]
            for i in group:
                x, labels = pairs[i]
                first = rng.integers(0, 5)  # crop the start, so that the strides are aligned differently
                x = x[first:] + rng.standard_normal(80).astype(np.float32) * 0.15
                logs, kept = forward(weights, x)
                found = ctc(logs, labels)
                if found is None:
                    continue
                losses.append(found[0] / len(labels))
                for sum_, grad in zip(total, backward(weights, kept, found[1].astype(np.float32))):
                    sum_ += grad / len(group)
            norm = np.sqrt(sum(float((g**2).sum()) for g in total))
            step += 1
            rate = 2e-3 * min(1, step / 100) * (1 - epoch / epochs) ** 0.7
            for w, g, m in zip(weights, total, moments):
                g = g * min(1, 20 / (norm + 1e-9))
                m[0] = 0.9 * m[0] + 0.1 * g
                m[1] = 0.99 * m[1] + 0.01 * g * g
                w -= rate * (m[0] / (1 - 0.9**step)) / (np.sqrt(m[1] / (1 - 0.99**step)) + 1e-8)
        print(f"epoch {epoch + 1}: loss per letter {np.mean(losses):.3f}", flush=True)
    return weights


def save(weights):
    import onnx
    from onnx import TensorProto as T
    from onnx import helper as h

    constants, nodes, x = {}, [], "audio_signal"
    for layer, stride in enumerate(STRIDES):
        inputs = shape(layer)[0] // TAPS
        constants[f"w{layer}"] = weights[2 * layer].reshape(inputs, TAPS, WIDTH).transpose(2, 0, 1)
        constants[f"b{layer}"] = weights[2 * layer + 1]
        nodes += [
            h.make_node("Conv", [x, f"w{layer}", f"b{layer}"], [f"c{layer}"], strides=[stride], pads=[2, 2], kernel_shape=[TAPS]),
            h.make_node("Relu", [f"c{layer}"], [f"x{layer}"]),
        ]
        x = f"x{layer}"
    constants |= {"out": weights[6], "bias": weights[7]}
    nodes += [
        h.make_node("Transpose", [x], ["turned"], perm=[0, 2, 1]),
        h.make_node("MatMul", ["turned", "out"], ["product"]),
        h.make_node("Add", ["product", "bias"], ["scores"]),
        h.make_node("LogSoftmax", ["scores"], ["logprobs"], axis=-1),
    ]
    value = lambda name, kind, *dims: h.make_tensor_value_info(name, kind, dims)
    graph = h.make_graph(
        nodes, "digits", [value("audio_signal", T.FLOAT, "b", 80, "t"), value("length", T.INT64, "b")],
        [value("logprobs", T.FLOAT, "b", "u", len(TOKENS))],
        [onnx.numpy_helper.from_array(np.ascontiguousarray(v, np.float32), k) for k, v in constants.items()],
    )
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, HERE / "model.onnx")
    (HERE / "vocab.txt").write_text("".join(f"{token} {i}\n" for i, token in enumerate(TOKENS)), encoding="utf8")
    (HERE / "config.json").write_text('{"model_type": "nemo-conformer-ctc", "features_size": 80, "subsampling_factor": 4}\n')


if __name__ == "__main__":
    began = time.time()
    pairs = [utterance() for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 360)]
    print(f"{len(pairs)} utterances in {time.time() - began:.0f} s", flush=True)
    save(train(pairs))
    print(f"{time.time() - began:.0f} s")
