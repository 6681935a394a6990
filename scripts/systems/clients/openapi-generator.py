"""The journey of a recording with the Python client of openapi-generator: BASE (with /v1), KEY, FILE."""

import os
import time
import uuid

import openapi_client as longhand
from openapi_client.models.report_request import ReportRequest
from openapi_client.rest import ApiException

deal = "generator-" + str(uuid.uuid4())
client = longhand.ApiClient(longhand.Configuration(host=os.environ["BASE"], access_token=os.environ["KEY"]))
transcriptions, exports, reports = longhand.TranscriptionsApi(client), longhand.ExportApi(client), longhand.ReportsApi(client)


def by_metadata(key: str, value: str) -> longhand.TranscriptionPage:
    """Sets the parameter manually: this generator does not support deepObject parameters."""
    request = client.param_serialize(
        "GET", "/transcriptions", query_params=[(f"metadata[{key}]", value)], header_params={"Accept": "application/json"}, auth_settings=["key"]
    )
    response = client.call_api(*request)
    response.read()
    return client.response_deserialize(response, {"200": "TranscriptionPage"}).data


with open(os.environ["FILE"], "rb") as file:
    made = transcriptions.upload_transcription('attachment; filename="call.wav"', file.read(), language="en", x_metadata=f'{{"deal":"{deal}"}}')
record = transcriptions.get_transcription(made.uuid)
while record.status in ("queued", "processing"):
    record = transcriptions.get_transcription(made.uuid, wait=30)
assert record.status == "completed" and str(record.id) == str(made.uuid), record
words = transcriptions.get_transcription(made.uuid, words=True).segments[0].words
assert words and words[0].confidence > 0, words
assert [str(item.id) for item in by_metadata("deal", deal).items] == [str(made.uuid)]
assert b"## Transcript" in exports.export_transcription(made.uuid, "md")
reports.request_reports(made.uuid, ReportRequest(reports=["summary"]))
while (report := transcriptions.get_transcription(made.uuid).prompt_results[0]).status in ("queued", "processing"):
    time.sleep(0.5)
assert report.status == "completed" and report.text, report
transcriptions.delete_transcription(made.uuid)
try:
    transcriptions.get_transcription(made.uuid)
    raise AssertionError("the transcription still exists")
except ApiException as error:
    assert error.status == 404 and error.data.code is None and error.data.request_id, error
print("ok")
