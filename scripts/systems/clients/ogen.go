// The journey of a recording with the client of ogen: BASE (with /v1), KEY, FILE.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	longhand "longhand/client"
)

func must(ok bool, what ...any) {
	if !ok {
		panic(fmt.Sprint(what...))
	}
}

type key struct{}

func (key) Key(context.Context, longhand.OperationName) (longhand.Key, error) {
	return longhand.Key{Token: os.Getenv("KEY")}, nil
}

// sized gives uploads the length of the file, which ogen does not know.
type sized struct{ length int64 }

func (s sized) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Header.Get("Content-Type") == "application/octet-stream" {
		request.ContentLength = s.length
	}
	return http.DefaultTransport.RoundTrip(request)
}

func main() {
	ctx := context.Background()
	file, err := os.Open(os.Getenv("FILE"))
	must(err == nil, err)
	facts, _ := file.Stat()
	http := &http.Client{Transport: sized{facts.Size()}}
	client, err := longhand.NewClient(os.Getenv("BASE"), key{}, longhand.WithClient(http))
	must(err == nil, err)
	deal := fmt.Sprintf("ogen-%d", time.Now().UnixNano())
	upload := longhand.UploadTranscriptionParams{
		ContentDisposition: `attachment; filename="call.wav"`,
		XMetadata:          longhand.NewOptString(`{"deal":"` + deal + `"}`),
	}
	made, err := client.UploadTranscription(ctx, longhand.UploadTranscriptionReq{Data: file}, upload)
	must(err == nil, err)
	created, ok := made.(*longhand.UploadTranscriptionCreatedHeaders)
	must(ok, made)
	id := created.Response.UUID
	read := func() longhand.Transcription {
		params := longhand.GetTranscriptionParams{ID: id, Wait: longhand.NewOptInt(30), Words: longhand.NewOptBool(true)}
		answer, err := client.GetTranscription(ctx, params)
		must(err == nil, err)
		return answer.(*longhand.TranscriptionHeaders).Response
	}
	record := read()
	for record.Status == "queued" || record.Status == "processing" {
		record = read()
	}
	must(record.Status == "completed" && record.ID == id, record.Status)
	must(record.Segments[0].Words[0].Confidence.Value > 0)
	filter := longhand.NewOptListTranscriptionsMetadata(longhand.ListTranscriptionsMetadata{"deal": deal})
	listed, err := client.ListTranscriptions(ctx, longhand.ListTranscriptionsParams{Metadata: filter})
	must(err == nil, err)
	items := listed.(*longhand.TranscriptionPageHeaders).Response.Items
	must(len(items) == 1 && items[0].ID == id, items)
	format := longhand.NewOptExportTranscriptionFormat(longhand.ExportTranscriptionFormatMd)
	exported, err := client.ExportTranscription(ctx, longhand.ExportTranscriptionParams{ID: id, Format: format})
	must(err == nil, err)
	document, err := io.ReadAll(exported.(*longhand.ExportTranscriptionOKTextMarkdownHeaders).Response)
	must(err == nil && strings.Contains(string(document), "## Transcript"), err)
	_, err = client.RequestReports(ctx, &longhand.ReportRequest{Reports: []string{"summary"}}, longhand.RequestReportsParams{ID: id})
	must(err == nil, err)
	report := read().PromptResults[0]
	for report.Status == "queued" || report.Status == "processing" {
		time.Sleep(500 * time.Millisecond)
		report = read().PromptResults[0]
	}
	must(report.Status == "completed" && report.Text.Value != "", report.Status)
	deleted, err := client.DeleteTranscription(ctx, longhand.DeleteTranscriptionParams{ID: id})
	must(err == nil, err)
	_, ok = deleted.(*longhand.DeleteTranscriptionNoContent)
	must(ok, deleted)
	gone, err := client.GetTranscription(ctx, longhand.GetTranscriptionParams{ID: id})
	must(err == nil, err)
	missing, ok := gone.(*longhand.GetTranscriptionNotFound)
	must(ok && missing.Response.RequestID != "", gone)
	fmt.Println("ok")
}
