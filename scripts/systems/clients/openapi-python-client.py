"""The journey of a recording with the client of openapi-python-client, generated as the package opc: BASE (with /v1), KEY, FILE."""

import os
import time
import uuid
from io import BytesIO

from opc import AuthenticatedClient
from opc.api.export import export_transcription
from opc.api.reports import request_reports
from opc.api.transcriptions import delete_transcription, get_transcription, list_transcriptions, upload_transcription
from opc.models import Error, ListTranscriptionsMetadata, ReportRequest, Transcription, TranscriptionPage, Uploaded
from opc.models.export_transcription_format import ExportTranscriptionFormat
from opc.types import File

client = AuthenticatedClient(base_url=os.environ["BASE"], token=os.environ["KEY"], timeout=90)
deal = "opc-" + str(uuid.uuid4())


def read(wait: int = 0, words: bool = False) -> Transcription:
    record = get_transcription.sync(made.uuid, client=client, wait=wait, words=words)
    assert isinstance(record, Transcription), record
    return record


with open(os.environ["FILE"], "rb") as file:
    body = File(payload=BytesIO(file.read()))
made = upload_transcription.sync(client=client, body=body, content_disposition='attachment; filename="call.wav"', x_metadata=f'{{"deal":"{deal}"}}')
assert isinstance(made, Uploaded), made
while (record := read(wait=30)).status in ("queued", "processing"):
    pass
assert record.status == "completed" and record.id == made.uuid, record
assert read(words=True).segments[0].words[0].confidence > 0
metadata = ListTranscriptionsMetadata()
metadata["metadata.deal"] = deal  # this generator flattens objects into the query, so the key has its full name
page = list_transcriptions.sync(client=client, metadata=metadata)
assert isinstance(page, TranscriptionPage) and [item.id for item in page.items] == [made.uuid], page
document = export_transcription.sync(made.uuid, client=client, format_=ExportTranscriptionFormat.MD)
assert isinstance(document, File) and b"## Transcript" in document.payload.read()
request_reports.sync(made.uuid, client=client, body=ReportRequest(reports=["summary"]))
while (report := read().prompt_results[0]).status in ("queued", "processing"):
    time.sleep(0.5)
assert report.status == "completed" and report.text, report
assert delete_transcription.sync_detailed(made.uuid, client=client).status_code == 204
gone = get_transcription.sync_detailed(made.uuid, client=client)
assert gone.status_code == 404 and isinstance(gone.parsed, Error) and gone.parsed.code is None, gone
print("ok")
