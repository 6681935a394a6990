"""An independent implementation of the log-mel features in engine/asr/features, with numpy's FFT and dense filters.

Usage: features.py KIND < float32 samples at 16 kHz > float32 features [bins x frames]
"""
import sys

import numpy as np


def slaney(bins, length):
    hz_of = lambda mel: np.where(mel < 15, 200 / 3 * mel, 1000 * np.exp(np.log(6.4) / 27 * (mel - 15)))
    edges = hz_of(np.linspace(0, 15 + np.log(8) / (np.log(6.4) / 27), bins + 2))
    return triangles(edges, length) * (2 / (edges[2:] - edges[:-2]))[:, None]


def htk(bins, length):
    top = 2595 * np.log10(1 + 8000 / 700)
    return triangles(700 * (10 ** (np.linspace(0, top, bins + 2) / 2595) - 1), length)


def triangles(edges, length):
    f = np.linspace(0, 8000, length // 2 + 1)[None]
    low, mid, high = (edges[i : len(edges) - 2 + i, None] for i in range(3))
    return np.maximum(0, np.minimum((f - low) / (mid - low), (high - f) / (high - mid)))


def bfloat16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def nemo(samples, bins):
    x = samples.astype(np.float64)
    x = np.append(x[:1], x[1:] - 0.97 * x[:-1])
    window = np.pad(np.hanning(400), 56)
    power = spectra(np.pad(x, 256), window)[: len(x) // 160]
    logs = np.log(power @ slaney(bins, 512).T + 2.0**-24)
    return ((logs - logs.mean(0)) / (logs.std(0, ddof=1) + 1e-5)).T


def gigaam(samples, version):
    x = samples.astype(np.float64)
    if version == 2:
        power = spectra(np.pad(x, 200, mode="reflect"), np.hanning(401)[:-1])
        filters = htk(64, 400)
    else:
        power = spectra(x, bfloat16(np.hanning(321)[:-1]))
        filters = bfloat16(htk(64, 320))
    return np.log(np.clip(power @ filters.T, 1e-9, 1e9)).T


def spectra(x, window):
    frames = np.lib.stride_tricks.sliding_window_view(x, len(window))[::160]
    return np.abs(np.fft.rfft(frames * window)) ** 2


KINDS = {
    "nemo80": lambda x: nemo(x, 80),
    "nemo128": lambda x: nemo(x, 128),
    "gigaam-v2": lambda x: gigaam(x, 2),
    "gigaam-v3": lambda x: gigaam(x, 3),
}

if __name__ == "__main__":
    samples = np.frombuffer(sys.stdin.buffer.read(), np.float32)
    sys.stdout.buffer.write(KINDS[sys.argv[1]](samples).astype(np.float32).tobytes())
