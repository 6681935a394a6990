"""Runs faster-whisper over one file and prints JSON: version, seconds of processing (model load not counted), text, peak memory.
   python faster_whisper_run.py MODEL FILE --mode batched|careful|greedy --batch 8 --threads 2 --language en"""
import argparse, json, time
import ctranslate2, faster_whisper
from faster_whisper import BatchedInferencePipeline, WhisperModel


def peak_megabytes():
    """High-water mark of this program. ru_maxrss would begin with that of the process that started it"""
    with open('/proc/self/status') as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith('VmHWM'))


parser = argparse.ArgumentParser()
parser.add_argument('model')
parser.add_argument('file')
parser.add_argument('--mode', default='batched')
parser.add_argument('--batch', type=int, default=8)
parser.add_argument('--threads', type=int, default=2)
parser.add_argument('--language', default='en')
a = parser.parse_args()
model = WhisperModel(a.model, device='cpu', compute_type='int8', cpu_threads=a.threads)
language = None if a.language == 'auto' else a.language
started = time.monotonic()
if a.mode == 'batched':
    segments, info = BatchedInferencePipeline(model).transcribe(a.file, batch_size=a.batch, beam_size=1, language=language)
else:
    segments, info = model.transcribe(a.file, beam_size=5 if a.mode == 'careful' else 1, language=language, vad_filter=True)
segments = [{'start': s.start, 'end': s.end, 'text': s.text} for s in segments]
print(json.dumps({
    'version': f'{faster_whisper.__version__}, CTranslate2 {ctranslate2.__version__}',
    'seconds': time.monotonic() - started,
    'audio': info.duration,
    'text': ' '.join(s['text'].strip() for s in segments),
    'peak_rss_mb': peak_megabytes(),
}))
