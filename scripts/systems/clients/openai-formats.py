"""The official Python client of OpenAI's API in every response format: BASE (with /v1), KEY, FILE."""

import os
import re

import httpx
import openai

client = openai.OpenAI(api_key=os.environ["KEY"], base_url=os.environ["BASE"], max_retries=0)


def ask(response_format: str, **more: object) -> object:
    with open(os.environ["FILE"], "rb") as file:
        return client.audio.transcriptions.create(file=file, model="whisper-1", response_format=response_format, **more)  # type: ignore


PHRASE = re.compile("account of himself", re.I)
json = ask("json", language="en", prompt="Longhand", temperature=0)
assert PHRASE.search(json.text) and json.usage.type == "duration", json
assert PHRASE.search(ask("text"))
assert re.match(r"1\r?\n00:00:\d\d,\d{3} --> ", ask("srt"))
assert ask("vtt").startswith("WEBVTT")
verbose = ask("verbose_json", timestamp_granularities=["word", "segment"])
assert PHRASE.search(verbose.text) and len(verbose.words) > 10 and verbose.segments[0].end > 0 and verbose.duration > 10, verbose
diarized = ask("diarized_json", chunking_strategy="auto")
assert {segment.speaker for segment in diarized.segments} == {"A", "B"}, diarized
assert "whisper-1" in [model.id for model in client.models.list()]
try:
    ask("json", language="tlh")
    raise AssertionError("tlh was accepted as a language")
except openai.BadRequestError as error:
    assert error.code == "invalid_form" and error.param == "language", error
try:
    openai.OpenAI(api_key="lh_wrong", base_url=os.environ["BASE"]).models.list()
    raise AssertionError("an invalid key was accepted")
except openai.AuthenticationError as error:
    assert error.code == "unauthorized", error
headers = {"authorization": "Bearer " + os.environ["KEY"]}
for item in httpx.get(os.environ["BASE"] + "/transcriptions", headers=headers).json()["items"]:
    if item["title"] == os.path.basename(os.environ["FILE"]):
        httpx.delete(f'{os.environ["BASE"]}/transcriptions/{item["id"]}', headers=headers).raise_for_status()
print("ok")
