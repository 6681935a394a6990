"""Creates small models with random weights in the layout that onnx-asr documents, and stores the output of onnx-asr for them.

Usage: make.py (needs numpy, onnx, onnxruntime, onnx-asr 0.12 and ffmpeg). Writes the folders ctc, rnnt, tdt, gigaam, gigaam-rnnt and t-one beside this script, and
expected.json: tokens and timestamps of two clips per folder.
"""
import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnx_asr
from onnx import TensorProto as T
from onnx import helper as h

HERE = Path(__file__).parent
DATA = HERE / "../../../../bench/data"
WIDTH = 24
PIECES = ["<unk>", "\u2581a", "\u2581the", "n", "\u2581s", "er", ",", "\u2581o", "\u0434", "x", "<blk>"]
LETTERS = ["\u2581", *"\u0430\u0431\u0432\u0433\u0434\u0435\u0436\u0437", "<blk>"]
rng = np.random.default_rng(5)


def floats(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale / np.sqrt(shape[-1])).astype(np.float32)


def save(path, nodes, inputs, outputs, constants):
    weights = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = h.make_graph(nodes, "network", inputs, outputs, weights)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.parent.mkdir(exist_ok=True)
    onnx.save(model, path)


def value(name, kind, *dims):
    return h.make_tensor_value_info(name, kind, dims)


def encoder_nodes(source, length, bins, factor):
    """A convolution over `factor` + 2 frames with that stride, then tanh: [batch x WIDTH x frames]."""
    nodes = [
        h.make_node("Conv", [source, "kernel", "bias"], ["convolved"], strides=[factor], pads=[1, factor], kernel_shape=[factor + 2]),
        h.make_node("Tanh", ["convolved"], ["hidden"]),
        h.make_node("Sub", [length, "one"], ["less"]),
        h.make_node("Div", ["less", "factor"], ["whole"]),
        h.make_node("Add", ["whole", "one"], ["frames"]),
    ]
    kernel = floats(WIDTH, bins, factor + 2, scale=0.8 if factor == 8 else 0.3)
    return nodes, {"kernel": kernel, "bias": floats(WIDTH), "one": np.int64([1]), "factor": np.int64([factor])}


def ctc(folder, source, length, output, bins, factor, tokens, blank_bias, name):
    nodes, constants = encoder_nodes(source, length, bins, factor)
    nodes += [
        h.make_node("Transpose", ["hidden"], ["turned"], perm=[0, 2, 1]),
        h.make_node("MatMul", ["turned", "out"], ["product"]),
        h.make_node("Add", ["product", "out_bias"], ["logits"]),
        h.make_node("LogSoftmax", ["logits"], [output], axis=-1),
    ]
    bias = np.zeros(len(tokens), np.float32)
    bias[-1] = blank_bias
    constants |= {"out": floats(WIDTH, len(tokens), scale=6), "out_bias": bias}
    inputs = [value(source, T.FLOAT, "b", bins, "t"), value(length, T.INT64, "b")]
    save(HERE / folder / name, nodes, inputs, [value(output, T.FLOAT, "b", "u", len(tokens))], constants)


def transducer(folder, durations):
    nodes, constants = encoder_nodes("audio_signal", "length", 128 if durations else 80, 8)
    nodes += [h.make_node("Identity", ["hidden"], ["outputs"]), h.make_node("Identity", ["frames"], ["encoded_lengths"])]
    inputs = [value("audio_signal", T.FLOAT, "b", 128 if durations else 80, "t"), value("length", T.INT64, "b")]
    outputs = [value("outputs", T.FLOAT, "b", WIDTH, "u"), value("encoded_lengths", T.INT64, "b")]
    save(HERE / folder / "encoder-model.onnx", nodes, inputs, outputs, constants)

    wide = len(PIECES) + durations
    bias = np.zeros(wide, np.float32)
    bias[len(PIECES) - 1] = 3.5
    bias[len(PIECES) : len(PIECES) + 1] = -2  # a duration of 0 is rare
    nodes = [
        h.make_node("Transpose", ["targets"], ["by_time"], perm=[1, 0]),
        h.make_node("Gather", ["embedding", "by_time"], ["embedded"]),
        h.make_node("LSTM", ["embedded", "w", "r", "b", "", "input_states_1", "input_states_2"],
                    ["y", "output_states_1", "output_states_2"], hidden_size=WIDTH),
        h.make_node("Mul", ["y", "louder"], ["loud"]),
        h.make_node("Squeeze", ["loud", "direction"], ["predicted"]),  # [tokens x batch x width]
        h.make_node("Transpose", ["predicted"], ["by_batch"], perm=[1, 0, 2]),
        h.make_node("Unsqueeze", ["by_batch", "direction"], ["beside"]),  # [batch x 1 x tokens x width]
        h.make_node("Transpose", ["encoder_outputs"], ["turned"], perm=[0, 2, 1]),
        h.make_node("Unsqueeze", ["turned", "two"], ["above"]),  # [batch x frames x 1 x width]
        h.make_node("Add", ["above", "beside"], ["sum"]),
        h.make_node("Relu", ["sum"], ["active"]),
        h.make_node("MatMul", ["active", "out"], ["product"]),
        h.make_node("Add", ["product", "out_bias"], ["outputs"]),
        h.make_node("Identity", ["target_length"], ["prednet_lengths"]),
    ]
    embedding = floats(len(PIECES), WIDTH, scale=8)
    embedding[-1] = 0
    constants = {
        "embedding": embedding, "w": floats(1, 4 * WIDTH, WIDTH, scale=2), "r": floats(1, 4 * WIDTH, WIDTH, scale=2),
        "b": floats(1, 8 * WIDTH), "direction": np.int64([1]), "two": np.int64([2]), "louder": np.float32(2.5),
        "out": floats(WIDTH, wide, scale=5), "out_bias": bias,
    }
    inputs = [
        value("encoder_outputs", T.FLOAT, "b", WIDTH, "t"), value("targets", T.INT32, "b", "u"), value("target_length", T.INT32, "b"),
        value("input_states_1", T.FLOAT, 1, "b", WIDTH), value("input_states_2", T.FLOAT, 1, "b", WIDTH),
    ]
    outputs = [
        value("outputs", T.FLOAT, "b", "t", "u", wide), value("prednet_lengths", T.INT32, "b"),
        value("output_states_1", T.FLOAT, 1, "b", WIDTH), value("output_states_2", T.FLOAT, 1, "b", WIDTH),
    ]
    save(HERE / folder / "decoder_joint-model.onnx", nodes, inputs, outputs, constants)


def gigaam_transducer(folder):
    """Predictor and joint in files of their own; the joint takes one frame. Large matrices are small ones repeated: onnx-asr expects 320 numbers."""
    hidden, tiles = 320, 10
    part = hidden // tiles
    nodes, constants = encoder_nodes("audio_signal", "length", 64, 4)
    nodes += [h.make_node("Identity", ["hidden"], ["encoded"]), h.make_node("Cast", ["frames"], ["encoded_len"], to=T.INT32)]
    inputs = [value("audio_signal", T.FLOAT, "b", 64, "t"), value("length", T.INT64, "b")]
    outputs = [value("encoded", T.FLOAT, "b", WIDTH, "u"), value("encoded_len", T.INT32, "b")]
    save(HERE / folder / "v3_rnnt_encoder.onnx", nodes, inputs, outputs, constants)

    nodes = [
        h.make_node("Tile", ["part", "times"], ["w"]),
        h.make_node("Gather", ["embedding", "x"], ["embedded"]),  # [batch x 1 x width]
        h.make_node("Transpose", ["embedded"], ["by_time"], perm=[1, 0, 2]),
        h.make_node("LSTM", ["by_time", "w", "w", "", "", "h.1", "c.1"], ["y", "h", "c"], hidden_size=hidden),
        h.make_node("Squeeze", ["y", "direction"], ["flat"]),
        h.make_node("Transpose", ["flat"], ["dec"], perm=[1, 0, 2]),
    ]
    embedding = np.tile(floats(len(LETTERS), part, scale=8), (1, tiles))
    embedding[-1] = 0
    constants = {
        "part": floats(1, 4 * part, part, scale=0.5), "times": np.int64([1, tiles, tiles]), "embedding": embedding, "direction": np.int64([1]),
    }
    states = [value(name, T.FLOAT, 1, "b", hidden) for name in ("h.1", "c.1", "h", "c")]
    outputs = [value("dec", T.FLOAT, "b", 1, hidden), *states[2:]]
    save(HERE / folder / "v3_rnnt_decoder.onnx", nodes, [value("x", T.INT64, "b", 1), *states[:2]], outputs, constants)

    nodes = [
        h.make_node("Transpose", ["enc"], ["frames"], perm=[0, 2, 1]),
        h.make_node("MatMul", ["frames", "from_frame"], ["one"]),
        h.make_node("Transpose", ["dec"], ["tokens"], perm=[0, 2, 1]),
        h.make_node("MatMul", ["tokens", "from_token"], ["other"]),
        h.make_node("Add", ["one", "other"], ["sum"]),
        h.make_node("Tanh", ["sum"], ["active"]),
        h.make_node("MatMul", ["active", "out"], ["product"]),
        h.make_node("Add", ["product", "bias"], ["logits"]),
        h.make_node("LogSoftmax", ["logits"], ["normal"], axis=-1),
        h.make_node("Unsqueeze", ["normal", "two"], ["joint"]),
    ]
    bias = np.zeros(len(LETTERS), np.float32)
    bias[-1] = 0.5
    constants = {
        "from_frame": floats(WIDTH, WIDTH, scale=8), "from_token": floats(hidden, WIDTH, scale=1), "out": floats(WIDTH, len(LETTERS), scale=5),
        "bias": bias, "two": np.int64([2]),
    }
    inputs = [value("enc", T.FLOAT, "b", WIDTH, 1), value("dec", T.FLOAT, "b", hidden, 1)]
    save(HERE / folder / "v3_rnnt_joint.onnx", nodes, inputs, [value("joint", T.FLOAT, "b", 1, 1, len(LETTERS))], constants)


def stream(folder):
    """Pieces of 300 ms at 8 kHz with a state, as T-one is exported."""
    piece, frames = 2400, 10
    nodes = [
        h.make_node("Cast", ["signal"], ["numbers"], to=T.FLOAT),
        h.make_node("Mul", ["numbers", "unit"], ["samples"]),
        h.make_node("Reshape", ["samples", "shape"], ["rows"]),
        h.make_node("MatMul", ["rows", "kernel"], ["product"]),
        h.make_node("Cast", ["state"], ["before"], to=T.FLOAT),
        h.make_node("Unsqueeze", ["before", "axis"], ["context"]),
        h.make_node("Add", ["product", "context"], ["sum"]),
        h.make_node("Tanh", ["sum"], ["hidden"]),
        h.make_node("ReduceMean", ["hidden"], ["mean"], axes=[1], keepdims=0),
        h.make_node("Cast", ["mean"], ["state_next"], to=T.FLOAT16),
        h.make_node("MatMul", ["hidden", "out"], ["logits"]),
        h.make_node("Add", ["logits", "bias"], ["biased"]),
        h.make_node("LogSoftmax", ["biased"], ["logprobs"], axis=-1),
    ]
    letters = LETTERS[1:-1] + [" "]
    bias = np.zeros(len(letters) + 1, np.float32)
    bias[-1] = 1
    constants = {
        "unit": np.float32(1 / 2000), "shape": np.int64([-1, frames, piece // frames]), "kernel": floats(piece // frames, WIDTH, scale=3),
        "axis": np.int64([1]), "out": floats(WIDTH, len(letters) + 1, scale=6), "bias": bias,
    }
    inputs = [value("signal", T.INT32, "b", piece, 1), value("state", T.FLOAT16, "b", WIDTH)]
    outputs = [value("logprobs", T.FLOAT, "b", frames, len(letters) + 1), value("state_next", T.FLOAT16, "b", WIDTH)]
    save(HERE / folder / "model.onnx", nodes, inputs, outputs, constants)
    config = {"model_type": "t-one-ctc", "encoder_params": {"reduction_kernel_size": 3}, "decoder_params": {"vocabulary": letters}}
    (HERE / folder / "config.json").write_text(json.dumps(config | {"pad_token_id": len(letters)}) + "\n")
    return letters + ["<blk>"]


def describe(folder, tokens, vocabulary, **config):
    lines = "".join(f"{token} {i}\n" for i, token in enumerate(tokens))
    (HERE / folder / vocabulary).write_text(lines, encoding="utf8")
    (HERE / folder / "config.json").write_text(json.dumps(config) + "\n")


def recognised(folder, samples, tokens, rate=16000):
    model = onnx_asr.load_model(json.loads((HERE / folder / "config.json").read_text())["model_type"], HERE / folder)
    found = model.with_timestamps().recognize(samples, sample_rate=rate)
    ids = [[i for i, token in enumerate(tokens) if token.replace("\u2581", " ") == text][0] for text in found.tokens]
    return {"tokens": ids, "seconds": [round(float(at), 3) for at in found.timestamps]}


if __name__ == "__main__":
    ctc("ctc", "audio_signal", "length", "logprobs", 80, 8, PIECES, 1.5, "model.onnx")
    describe("ctc", PIECES, "vocab.txt", model_type="nemo-conformer-ctc", features_size=80, subsampling_factor=8)
    ctc("gigaam", "features", "feature_lengths", "log_probs", 64, 4, LETTERS, 1.5, "v3_ctc.onnx")
    describe("gigaam", LETTERS, "v3_vocab.txt", model_type="gigaam-v3-ctc", version="v3", features_size=64, subsampling_factor=4)
    transducer("rnnt", 0)
    describe("rnnt", PIECES, "vocab.txt", model_type="nemo-conformer-rnnt", features_size=80, subsampling_factor=8, max_tokens_per_step=10)
    transducer("tdt", 5)
    describe("tdt", PIECES, "vocab.txt", model_type="nemo-conformer-tdt", features_size=128, subsampling_factor=8)
    gigaam_transducer("gigaam-rnnt")
    describe("gigaam-rnnt", LETTERS, "v3_vocab.txt", model_type="gigaam-v3-rnnt", version="v3", features_size=64, subsampling_factor=4)
    spoken = stream("t-one")
    expected = {}
    for clip in ["two-speakers.wav", "clips/en_fleurs-test_003.ogg"]:
        command = ["ffmpeg", "-v", "error", "-i", DATA / clip, "-ac", "1", "-ar", "16000", "-t", "12", "-f", "f32le", "-"]
        samples = np.frombuffer(subprocess.check_output(command), np.float32)
        for folder, tokens in [("ctc", PIECES), ("gigaam", LETTERS), ("rnnt", PIECES), ("tdt", PIECES), ("gigaam-rnnt", LETTERS)]:
            expected.setdefault(folder, {})[clip] = recognised(folder, samples, tokens)
        command[command.index("16000")] = "8000"
        samples = np.frombuffer(subprocess.check_output(command), np.float32)
        expected.setdefault("t-one", {})[clip] = recognised("t-one", samples, spoken, 8000)
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")
    for folder, clips in expected.items():
        for clip, found in clips.items():
            print(folder, clip, len(found["tokens"]), found["tokens"][:30], found["seconds"][:12])
