"""Runs onnx-asr over wav files and prints JSON: version, seconds of processing (loading the model not counted), tokens' characters.

Usage: onnx_asr_run.py FOLDER QUANTISATION THREADS BATCH FILE…; the quantisation is int8 or none.
"""
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import onnx_asr
import onnxruntime

folder, quantisation, threads, batch = sys.argv[1:5]
files = sys.argv[5:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(threads)
kind = json.loads((Path(folder) / "config.json").read_text())["model_type"]
model = onnx_asr.load_model(kind, folder, quantization=None if quantisation == "none" else quantisation, sess_options=options)
model.recognize(files[0])
started = time.monotonic()
texts = []
for i in range(0, len(files), int(batch)):
    texts += model.recognize(files[i : i + int(batch)])
seconds = time.monotonic() - started
print(json.dumps({
    "version": f"onnx-asr {version('onnx-asr')}, onnxruntime {onnxruntime.__version__}",
    "seconds": seconds,
    "characters": sum(map(len, texts)),
}))
