"""Makes the 8-bit form of a float32 model as those for onnx-asr are published: onnxruntime's dynamic quantisation of all operators that it knows.

Usage: quantise.py FOLDER TO
"""
import logging
import shutil
import sys
from pathlib import Path

from onnxruntime.quantization import QuantType, quantize_dynamic

logging.getLogger().setLevel(logging.ERROR)
folder, to = map(Path, sys.argv[1:])
to.mkdir(parents=True, exist_ok=True)
for network in folder.glob("*.onnx"):
    quantize_dynamic(network, to / f"{network.stem}.int8.onnx", weight_type=QuantType.QUInt8)
for name in folder.glob("*.txt"):
    shutil.copy(name, to)
shutil.copy(folder / "config.json", to)
