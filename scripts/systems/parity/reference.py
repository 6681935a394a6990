"""Creates networks of the real classes of NeMo and GigaAM with random weights, exports them with their own exporters, and stores their features,
the output of their encoder and the tokens of their greedy decoding for every clip.

Usage: reference.py FOLDER NAME… (see MODELS at the end). FOLDER/clips holds float32 samples at 16 kHz, CLIP.f32. Writes FOLDER/NAME/model (the
folder to import), for NeMo FOLDER/NAME/model.nemo, and FOLDER/NAME/reference: CLIP.features.f32 [bins x frames], CLIP.encoded.f32 [width x frames] and CLIP.json.
"""
import copy
import json
import os
import sys
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf

FOLDER = Path(sys.argv[1])
CLIPS = {path.stem: np.fromfile(path, np.float32) for path in sorted((FOLDER / "clips").glob("*.f32"))}
TUNING = list(CLIPS)[:: max(1, len(CLIPS) // 6)]  # clips for which the logits are centred
DURATIONS = [0, 1, 2, 3, 4]
SPREAD = 4.0  # deviation of the logits: random layers alone would give almost equal ones
BLANKS = {"ctc": 0.5, "rnnt": 0.75, "tdt": 0.6}  # share of frames with a blank at the first step


def tokens_of(count):
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [f"{'' if i % 3 else chr(0x2581)}{letters[i // 26 % 26]}{letters[i % 26]}{i // 676 or ''}" for i in range(count)]
    return names


def nemo_config(kind, bins, layers, width, heads, channels, predictor_layers, predictor, vocabulary, scaled):
    labels = tokens_of(vocabulary)
    encoder = {
        "_target_": "nemo.collections.asr.modules.ConformerEncoder",
        "feat_in": bins, "feat_out": -1, "n_layers": layers, "d_model": width, "subsampling": "dw_striding", "subsampling_factor": 8,
        "subsampling_conv_channels": channels, "causal_downsampling": False, "ff_expansion_factor": 4, "self_attention_model": "rel_pos",
        "n_heads": heads, "att_context_size": [-1, -1], "xscaling": scaled, "untie_biases": True, "pos_emb_max_len": 5000,
        "use_bias": scaled, "conv_kernel_size": 9, "conv_norm_type": "batch_norm", "dropout": 0.0, "dropout_pre_encoder": 0.0,
        "dropout_emb": 0.0, "dropout_att": 0.0,
    }
    config = {
        "sample_rate": 16000, "labels": labels,
        "preprocessor": {
            "_target_": "nemo.collections.asr.modules.AudioToMelSpectrogramPreprocessor", "sample_rate": 16000, "normalize": "per_feature",
            "window_size": 0.025, "window_stride": 0.01, "window": "hann", "features": bins, "n_fft": 512, "log": True,
            "frame_splicing": 1, "dither": 1e-5, "pad_to": 0,
        },
        "encoder": encoder, "optim": {"name": "sgd", "lr": 0.1},
    }
    if kind == "ctc":
        decoder = {"_target_": "nemo.collections.asr.modules.ConvASRDecoder", "feat_in": width, "num_classes": vocabulary, "vocabulary": labels}
        return config | {"decoder": decoder, "decoding": {"strategy": "greedy"}}
    durations = len(DURATIONS) if kind == "tdt" else 0
    net = {"pred_hidden": predictor, "pred_rnn_layers": predictor_layers, "t_max": None, "dropout": 0.0}
    return config | {
        "model_defaults": {"enc_hidden": width, "pred_hidden": predictor, "joint_hidden": predictor},
        "decoder": {
            "_target_": "nemo.collections.asr.modules.RNNTDecoder", "normalization_mode": None, "random_state_sampling": False,
            "blank_as_pad": True, "prednet": net,
        },
        "joint": {
            "_target_": "nemo.collections.asr.modules.RNNTJoint", "log_softmax": None, "preserve_memory": False, "fuse_loss_wer": False,
            "num_extra_outputs": durations,
            "jointnet": {"joint_hidden": predictor, "activation": "relu", "dropout": 0.0},
        },
        "decoding": {
            "strategy": "greedy_batch", "greedy": {"max_symbols": 10},
            **({"model_type": "tdt", "durations": DURATIONS} if durations else {}),
        },
        "loss": {"loss_name": "tdt" if durations else "pytorch", **({"tdt_kwargs": {"durations": DURATIONS, "sigma": 0.02, "omega": 0.1}} if durations else {})},
    }


def centred(layer, logits_of, blank, share, every=1):
    """Centres a layer's logits [frames x outputs], spreads them, and raises the blank until it has its share of every `every`th frame."""
    logits = logits_of()
    gain = SPREAD / logits.std(0).mean()
    layer.weight.data *= gain
    layer.bias.data = (layer.bias.data - logits.mean(0)) * gain
    logits = logits_of()[::every]
    layer.bias.data[blank] += torch.quantile(logits[:, :blank].max(1).values - logits[:, blank], share)


def levelled(encoder, run):
    """Makes every channel between the layers vary over the frames as much as it is large. Random layers would add the same to every frame until
    frames differ by a thousandth of what they have in common, which no trained network does and no 8-bit number can show."""

    def level(module, _, output):
        channels = 1 if isinstance(module, torch.nn.Conv1d) else -1
        values = output.movedim(channels, -1).reshape(-1, output.shape[channels])
        mean, deviation = values.mean(0), values.std(0) + 1e-6
        column = (-1,) + (1,) * (module.weight.dim() - 1)
        module.weight.data /= deviation.view(column)
        module.bias.data = (module.bias.data - mean) / deviation
        shape = (-1, 1) if channels == 1 else (-1,)
        return (output - mean.view(shape)) / deviation.view(shape)

    before = [one for one in encoder.pre_encode.modules() if isinstance(one, (torch.nn.Linear, torch.nn.Conv1d))]
    hooks = [module.register_forward_hook(level) for module in [*before, *(layer.norm_out for layer in encoder.layers)]]
    run()
    for hook in hooks:
        hook.remove()


def nemo(kind, **size):
    import nemo.collections.asr.models as models
    from nemo.utils import logging

    logging.setLevel(logging.ERROR)
    config = OmegaConf.create(nemo_config(kind, **size))
    model = (models.EncDecCTCModel if kind == "ctc" else models.EncDecRNNTModel)(cfg=config).eval()
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.0f} million parameters")
    blank = size["vocabulary"]

    def encoded(samples):
        signal, length = torch.from_numpy(samples)[None], torch.tensor([len(samples)])
        features, frames = model.preprocessor(input_signal=signal, length=length)
        out, lengths = model.encoder(audio_signal=features, length=frames)
        return features[0, :, : frames[0]], out, lengths

    with torch.inference_mode():
        levelled(model.encoder, lambda: encoded(np.concatenate([CLIPS[name] for name in TUNING])))
        tuning = torch.cat([encoded(CLIPS[name])[1][0].T for name in TUNING])
        if kind == "ctc":
            layer = model.decoder.decoder_layers[0]
            centred(layer, lambda: tuning @ layer.weight[:, :, 0].T + layer.bias, blank, BLANKS[kind])
        else:
            joint = model.joint
            joint.pred.weight.data *= 2  # so that the previous token changes the next
            layer = joint.joint_net[-1]
            # half of the frames at the start, the others after tokens
            first = model.decoder.predict(None, None, add_sos=False, batch_size=1)[0][0]
            later = model.decoder.predict(torch.arange(0, blank, 7)[None], None, add_sos=False)[0][0]
            previous = torch.cat([joint.pred(later[i // 2 % len(later)][None] if i % 2 else first) for i in range(len(tuning))])
            centred(layer, lambda: layer(torch.relu(joint.enc(tuning) + previous)), blank, BLANKS[kind], every=2)

    def found(samples):
        features, out, lengths = encoded(samples)
        if kind == "ctc":
            logits = model.decoder(encoder_output=out)
            best = model.decoding.ctc_decoder_predictions_tensor(logits, decoder_lengths=lengths, return_hypotheses=True)[0]
            shown = logits[0, : lengths[0]].T
            return features, shown, [int(token) for token in tokens_from_ctc(best)], []
        best = model.decoding.rnnt_decoder_predictions_tensor(out, lengths, return_hypotheses=True)[0]
        ids = [int(token) for token in best.y_sequence]
        return features, out[0, :, : lengths[0]], ids, [int(at) for at in best.timestamp]

    def tokens_from_ctc(best):
        ids, before = [], blank
        for token in (int(one) for one in best.y_sequence):  # NeMo's greedy CTC keeps the frames; it collapses them for the text
            if token != before and token != blank:
                ids.append(token)
            before = token
        text = "".join(model.decoder.vocabulary[token] for token in ids)
        assert best.text.replace(" ", "") == text.replace(" ", ""), (best.text, text)
        return ids

    folder = FOLDER / NAME / "model"
    folder.mkdir(parents=True, exist_ok=True)
    results = {name: found_now(found, samples) for name, samples in CLIPS.items()}
    model.save_to(str(FOLDER / NAME / "model.nemo"))
    model.export(str(folder / "model.onnx"))
    names = [*model_labels(config), "<blk>"]
    (folder / "vocab.txt").write_text("".join(f"{token} {i}\n" for i, token in enumerate(names)), encoding="utf8")
    about = {"model_type": f"nemo-conformer-{kind}", "features_size": size["bins"], "subsampling_factor": 8}
    (folder / "config.json").write_text(json.dumps(about))
    store(results)


def model_labels(config):
    return list(config.labels)


def gigaam(version, layers, width, heads):
    import gigaam
    from gigaam.model import GigaAMASR

    letters = [" ", *"абвгдежзийклмнопрстуфхцчшщъыьэюя"]
    third = {"subsampling": "conv1d", "subs_kernel_size": 5, "conv_norm_type": "layer_norm", "conv_kernel_size": 5}
    features = {"win_length": 320, "n_fft": 320, "hop_length": 160, "center": False}
    newer = version == "v3"
    config = OmegaConf.create({
        "model_name": f"{version}_ctc", "sample_rate": 16000,
        "preprocessor": {"_target_": "gigaam.preprocess.FeatureExtractor", "sample_rate": 16000, "features": 64, **(features if newer else {})},
        "encoder": {"_target_": "gigaam.encoder.ConformerEncoder", "feat_in": 64, "n_layers": layers, "d_model": width, "n_heads": heads,
                    "subsampling_factor": 4, "self_attention_model": "rotary", **(third if newer else {})},
        "head": {"_target_": "gigaam.decoder.CTCHead", "feat_in": width, "num_classes": len(letters) + 1},
        "decoding": {"_target_": "gigaam.decoding.CTCGreedyDecoding", "vocabulary": letters},
    })
    model = GigaAMASR(config).eval()
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.0f} million parameters, {gigaam.__file__}")
    if newer:  # the published checkpoint stores the front end's buffers in bfloat16
        for buffer in model.preprocessor.buffers():
            buffer.data = buffer.to(torch.bfloat16).float()
    blank = len(letters)
    # In float32, torch computes energies near its limit of 1e-9, such as silence, with errors of 0.4 % in themselves: features are compared in float64.
    exact = copy.deepcopy(model.preprocessor).double()

    def encoded(samples):
        signal, length = torch.from_numpy(samples)[None], torch.tensor([len(samples)])
        features, frames = model.preprocessor(signal, length)
        out, lengths = model.encoder(features, frames)
        return exact(signal.double(), length)[0][0].float(), out, lengths

    with torch.inference_mode():
        levelled(model.encoder, lambda: encoded(np.concatenate([CLIPS[name] for name in TUNING])))
        layer = model.head.decoder_layers[0]
        tuning = torch.cat([encoded(CLIPS[name])[1][0].T for name in TUNING])
        centred(layer, lambda: tuning @ layer.weight[:, :, 0].T + layer.bias, blank, BLANKS["ctc"])

    def found(samples):
        features, out, lengths = encoded(samples)
        logits = model.head(encoder_output=out)
        text = model.decoding.decode(model.head, out, lengths)[0]
        text = text if isinstance(text, str) else text[0]
        return features, logits[0, : int(lengths[0])].T, [letters.index(letter) for letter in text], []

    folder = FOLDER / NAME / "model"
    folder.mkdir(parents=True, exist_ok=True)
    results = {name: found_now(found, samples) for name, samples in CLIPS.items()}
    model.to_onnx(str(folder))
    names = ["\u2581", *letters[1:], "<blk>"]
    (folder / f"{version}_vocab.txt").write_text("".join(f"{token} {i}\n" for i, token in enumerate(names)), encoding="utf8")
    about = {"model_type": f"gigaam-{version}-ctc", "version": version, "features_size": 64, "subsampling_factor": 4}
    (folder / "config.json").write_text(json.dumps(about))
    store(results)


def found_now(found, samples):
    with torch.inference_mode():
        features, encoded, tokens, frames = found(samples)
    return features.numpy().copy(), encoded.numpy().copy(), tokens, frames


def store(results):
    out = FOLDER / NAME / "reference"
    out.mkdir(exist_ok=True)
    for name, (features, encoded, tokens, frames) in results.items():
        np.ascontiguousarray(features, np.float32).tofile(out / f"{name}.features.f32")
        np.ascontiguousarray(encoded, np.float32).tofile(out / f"{name}.encoded.f32")
        (out / f"{name}.json").write_text(json.dumps({"tokens": tokens, "frames": frames}))
    counts = [len(tokens) for _, _, tokens, _ in results.values()]
    kinds = len({token for _, _, tokens, _ in results.values() for token in tokens})
    print(f"{NAME}: {len(results)} clips, {sum(counts)} tokens, {kinds} different")


SMALL = {"layers": 2, "width": 64, "heads": 4, "channels": 32, "predictor_layers": 1, "predictor": 64, "vocabulary": 128, "scaled": True}
LARGE = {"layers": 17, "width": 512, "heads": 8, "channels": 256, "predictor_layers": 1, "predictor": 640, "vocabulary": 1024, "scaled": True}
XLARGE = {"layers": 24, "width": 1024, "heads": 8, "channels": 256, "predictor_layers": 2, "predictor": 640, "vocabulary": 8192, "scaled": False}
MODELS = {
    "ctc-small": lambda: nemo("ctc", bins=80, **SMALL),
    "rnnt-small": lambda: nemo("rnnt", bins=80, **SMALL),
    "tdt-small": lambda: nemo("tdt", bins=128, **SMALL),
    "gigaam-v2-small": lambda: gigaam("v2", 2, 64, 4),
    "gigaam-v3-small": lambda: gigaam("v3", 2, 64, 4),
    "ctc-110m": lambda: nemo("ctc", bins=80, **LARGE),
    "rnnt-110m": lambda: nemo("rnnt", bins=80, **LARGE),
    "tdt-110m": lambda: nemo("tdt", bins=80, **LARGE),
    "gigaam-v2-220m": lambda: gigaam("v2", 16, 768, 16),
    "gigaam-v3-220m": lambda: gigaam("v3", 16, 768, 16),
    "ctc-0.6b": lambda: nemo("ctc", bins=80, **(XLARGE | {"vocabulary": 1024})),
    "tdt-0.6b": lambda: nemo("tdt", bins=128, **XLARGE),
}

if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    for NAME in sys.argv[2:]:
        torch.manual_seed(7)
        MODELS[NAME]()
