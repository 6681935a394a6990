"""Writes a Whisper checkpoint folder as a whisper.cpp model (ggml), so that both run the same weights.
   python convert_ggml.py CHECKPOINT_FOLDER OUT.bin [f16|q8_0]
   Layout: whisper.cpp, models/convert-h5-to-ggml.py; q8_0 as its quantize program writes it: matrices in blocks of 32 along the rows, each a float16 scale and 32 bytes"""
import json, struct, sys
import numpy as np
from safetensors.numpy import load_file

RENAMES = [
    ('model.', ''), ('.layers.', '.blocks.'), ('.self_attn_layer_norm', '.attn_ln'), ('.encoder_attn_layer_norm', '.cross_attn_ln'),
    ('.final_layer_norm', '.mlp_ln'), ('.self_attn.q_proj', '.attn.query'), ('.self_attn.k_proj', '.attn.key'), ('.self_attn.v_proj', '.attn.value'),
    ('.self_attn.out_proj', '.attn.out'), ('.encoder_attn.q_proj', '.cross_attn.query'), ('.encoder_attn.k_proj', '.cross_attn.key'),
    ('.encoder_attn.v_proj', '.cross_attn.value'), ('.encoder_attn.out_proj', '.cross_attn.out'), ('.fc1', '.mlp.0'), ('.fc2', '.mlp.2'),
    ('encoder.layer_norm', 'encoder.ln_post'), ('decoder.layer_norm', 'decoder.ln'), ('encoder.embed_positions.weight', 'encoder.positional_embedding'),
    ('decoder.embed_positions.weight', 'decoder.positional_embedding'), ('decoder.embed_tokens', 'decoder.token_embedding'),
]


def mel_filters(bins):
    fft = np.fft.rfftfreq(400, 1 / 16000)
    mels = np.linspace(0, 45.245640471924965, bins + 2)
    hz = 200 / 3 * mels
    log = mels >= 15
    hz[log] = 1000 * np.exp(np.log(6.4) / 27 * (mels[log] - 15))
    d = np.diff(hz)
    r = hz[:, None] - fft[None]
    w = np.maximum(0, np.minimum(-r[:-2] / d[:-1, None], r[2:] / d[1:, None]))
    return (w * (2 / (hz[2:] - hz[:-2]))[:, None]).astype(np.float32)


def bytes_of():
    """GPT-2's mapping of printable characters to bytes"""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    codes, n = {b: b for b in keep}, 0
    for b in range(256):
        if b not in codes:
            codes[b] = 256 + n
            n += 1
    return {chr(c): b for b, c in codes.items()}


F32, F16, Q8_0 = 0, 1, 8  # types of tensors
FILE_TYPES = {'f16': 1, 'q8_0': 2007}  # 7, and version 2 of the quantised formats in thousands


def q8_0(matrix):
    blocks = matrix.astype(np.float32).reshape(-1, 32)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    inverse = np.divide(1, scales.astype(np.float32), out=np.zeros(scales.shape, np.float32), where=scales != 0)
    return np.concatenate([scales.view(np.int8).reshape(-1, 2), np.rint(blocks * inverse).clip(-127, 127).astype(np.int8)], axis=1)


def convert(source, out, kind='f16'):
    config = json.load(open(source + '/config.json'))
    vocabulary = json.load(open(source + '/tokenizer.json'))['model']['vocab']
    table = bytes_of()
    with open(out, 'wb') as f:
        f.write(struct.pack('i', 0x67676D6C))
        f.write(struct.pack('11i', config['vocab_size'], config['max_source_positions'], config['d_model'], config['encoder_attention_heads'],
                            config['encoder_layers'], config['max_target_positions'], config['d_model'], config['decoder_attention_heads'],
                            config['decoder_layers'], config['num_mel_bins'], FILE_TYPES[kind]))
        filters = mel_filters(config['num_mel_bins'])
        f.write(struct.pack('2i', *filters.shape))
        filters.tofile(f)
        tokens = [t for t, i in sorted(vocabulary.items(), key=lambda kv: kv[1]) if not t.startswith('<|')]
        f.write(struct.pack('i', len(tokens)))
        for token in tokens:
            raw = bytes(table[c] for c in token)
            f.write(struct.pack('i', len(raw)) + raw)
        for name, tensor in load_file(source + '/model.safetensors').items():
            if name == 'proj_out.weight':
                continue
            for a, b in RENAMES:
                name = name.replace(a, b)
            data = tensor.squeeze()
            if name in ('encoder.conv1.bias', 'encoder.conv2.bias'):
                data = data.reshape(-1, 1)
            half = data.ndim >= 2 and not name.endswith('bias') and 'positional' not in name
            quantised = kind == 'q8_0' and half and data.ndim == 2
            raw = name.encode()
            f.write(struct.pack('3i', data.ndim, len(raw), Q8_0 if quantised else F16 if half else F32))
            f.write(struct.pack(f'{data.ndim}i', *reversed(data.shape)))
            f.write(raw)
            (q8_0(data) if quantised else data.astype(np.float16 if half else np.float32)).tofile(f)


if __name__ == '__main__':
    convert(*sys.argv[1:])
