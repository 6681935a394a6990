"""Runs whisper.cpp (through pywhispercpp, built on this machine) over one 16 kHz wav file and prints JSON as faster_whisper_run.py does.
   python whisper_cpp_run.py MODEL.bin FILE --mode greedy|careful --threads 2"""
import argparse, importlib.metadata, json, time, wave
import numpy as np
from pywhispercpp.model import Model


def peak_megabytes():
    """High-water mark of this program. ru_maxrss would begin with that of the process that started it"""
    with open('/proc/self/status') as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith('VmHWM'))


parser = argparse.ArgumentParser()
parser.add_argument('model')
parser.add_argument('file')
parser.add_argument('--mode', default='greedy')
parser.add_argument('--threads', type=int, default=2)
parser.add_argument('--language', default='en')
a = parser.parse_args()
with wave.open(a.file) as w:
    samples = np.frombuffer(w.readframes(w.getnframes()), np.int16).astype(np.float32) / 32768
    rate = w.getframerate()
careful = a.mode == 'careful'
model = Model(a.model, params_sampling_strategy=1 if careful else 0, n_threads=a.threads, print_progress=False, print_realtime=False, print_timestamps=False)
options = {'beam_search': {'beam_size': 5, 'patience': -1.0}} if careful else {'greedy': {'best_of': 1}}
started = time.monotonic()
segments = model.transcribe(samples, language=a.language, **options)
print(json.dumps({
    'version': f"pywhispercpp {importlib.metadata.version('pywhispercpp')}",
    'seconds': time.monotonic() - started,
    'audio': len(samples) / rate,
    'text': ' '.join(s.text.strip() for s in segments),
    'peak_rss_mb': peak_megabytes(),
}))
