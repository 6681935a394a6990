"""Converts a Whisper checkpoint folder for faster-whisper without torch, so that both run the same weights.
   python convert.py CHECKPOINT_FOLDER OUT"""
import json, shutil, sys
import numpy as np
from ctranslate2.specs import WhisperSpec
from safetensors.numpy import load_file


def convert(source, out):
    tensors = {k: v.astype(np.float32) for k, v in load_file(source + '/model.safetensors').items()}
    config = json.load(open(source + '/config.json'))
    generation = json.load(open(source + '/generation_config.json'))
    spec = WhisperSpec(config['encoder_layers'], config['encoder_attention_heads'], config['decoder_layers'], config['decoder_attention_heads'])

    def get(name):
        return tensors['model.' + name]

    def norm(target, name):
        target.gamma, target.beta = get(name + '.weight'), get(name + '.bias')

    def linear(target, *names):
        target.weight = np.concatenate([get(n + '.weight') for n in names])
        biases = [tensors.get('model.' + n + '.bias') for n in names]
        if any(b is not None for b in biases):
            target.bias = np.concatenate([np.zeros(len(get(n + '.weight')), np.float32) if b is None else b for n, b in zip(names, biases)])

    def feed_forward(target, p):
        norm(target.layer_norm, p + '.final_layer_norm')
        linear(target.linear_0, p + '.fc1')
        linear(target.linear_1, p + '.fc2')

    def common(target, p):
        target.position_encodings.encodings = get(p + '.embed_positions.weight')
        norm(target.layer_norm, p + '.layer_norm')

    def self_attention(target, p):
        norm(target.layer_norm, p + '.self_attn_layer_norm')
        linear(target.linear[0], *(f'{p}.self_attn.{n}_proj' for n in 'qkv'))
        linear(target.linear[1], p + '.self_attn.out_proj')

    common(spec.encoder, 'encoder')
    for conv in ('conv1', 'conv2'):
        target = getattr(spec.encoder, conv)
        target.weight, target.bias = get(f'encoder.{conv}.weight'), get(f'encoder.{conv}.bias')
    for i, layer in enumerate(spec.encoder.layer):
        self_attention(layer.self_attention, f'encoder.layers.{i}')
        feed_forward(layer.ffn, f'encoder.layers.{i}')
    common(spec.decoder, 'decoder')
    spec.decoder.embeddings.weight = get('decoder.embed_tokens.weight')
    spec.decoder.projection.weight = get('decoder.embed_tokens.weight')
    for i, layer in enumerate(spec.decoder.layer):
        p = f'decoder.layers.{i}'
        self_attention(layer.self_attention, p)
        norm(layer.attention.layer_norm, p + '.encoder_attn_layer_norm')
        linear(layer.attention.linear[0], p + '.encoder_attn.q_proj')
        linear(layer.attention.linear[1], p + '.encoder_attn.k_proj', p + '.encoder_attn.v_proj')
        linear(layer.attention.linear[2], p + '.encoder_attn.out_proj')
        feed_forward(layer.ffn, p)

    tokenizer = json.load(open(source + '/tokenizer.json'))
    words = {**tokenizer['model']['vocab'], **{t['content']: t['id'] for t in tokenizer['added_tokens']}}
    tokens = [w for w, _ in sorted(words.items(), key=lambda kv: kv[1])]
    first = len(tokens)
    tokens += ['<|%.2f|>' % ((i) * 0.02) for i in range(config['vocab_size'] - first)]
    spec.register_vocabulary(tokens[:config['vocab_size']])
    spec.config.suppress_ids = generation['suppress_tokens']
    spec.config.suppress_ids_begin = generation['begin_suppress_tokens']
    spec.config.alignment_heads = generation['alignment_heads']
    spec.config.lang_ids = sorted(generation.get('lang_to_id', {}).values())
    spec.validate()
    spec.optimize(quantization='int8')
    spec.save(out)
    for name in ('tokenizer.json', 'preprocessor_config.json'):
        shutil.copyfile(f'{source}/{name}', f'{out}/{name}')


if __name__ == '__main__':
    import os
    os.makedirs(sys.argv[2], exist_ok=True)
    convert(*sys.argv[1:3])
