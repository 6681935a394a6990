// The journey of a recording with the client of oapi-codegen: BASE (with /v1), KEY, FILE.
package main

import (
	"context"
	"fmt"
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

func main() {
	ctx := context.Background()
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		return nil
	}
	client, err := longhand.NewClientWithResponses(os.Getenv("BASE"), longhand.WithRequestEditorFn(key))
	must(err == nil, err)
	file, err := os.Open(os.Getenv("FILE"))
	must(err == nil, err)
	facts, _ := file.Stat()
	length := func(_ context.Context, request *http.Request) error { // net/http does not determine the length of a file
		request.ContentLength = facts.Size()
		return nil
	}
	deal := fmt.Sprintf("oapi-%d", time.Now().UnixNano())
	metadata := `{"deal":"` + deal + `"}`
	upload := longhand.UploadTranscriptionParams{ContentDisposition: `attachment; filename="call.wav"`, XMetadata: &metadata}

	made, err := client.UploadTranscriptionWithBodyWithResponse(ctx, &upload, "application/octet-stream", file, length)
	must(err == nil && made.JSON201 != nil, err, made)
	id := made.JSON201.Uuid
	wait, words := 30, true
	read := func() *longhand.Transcription {
		answer, err := client.GetTranscriptionWithResponse(ctx, id, &longhand.GetTranscriptionParams{Wait: &wait, Words: &words})
		must(err == nil && answer.JSON200 != nil, err)
		return answer.JSON200
	}
	record := read()
	for record.Status == "queued" || record.Status == "processing" {
		record = read()
	}
	must(record.Status == "completed" && record.Id == id, record.Status)
	must(*(*record.Segments[0].Words)[0].Confidence > 0)
	filter := map[string]string{"deal": deal}
	page, err := client.ListTranscriptionsWithResponse(ctx, &longhand.ListTranscriptionsParams{Metadata: &filter})
	must(err == nil && len(page.JSON200.Items) == 1 && page.JSON200.Items[0].Id == id, err)
	format := longhand.ExportTranscriptionParamsFormat("md")
	document, err := client.ExportTranscriptionWithResponse(ctx, id, &longhand.ExportTranscriptionParams{Format: &format})
	must(err == nil && strings.Contains(string(document.Body), "## Transcript"), err)
	_, err = client.RequestReportsWithResponse(ctx, id, longhand.ReportRequest{Reports: []string{"summary"}})
	must(err == nil, err)
	report := read().PromptResults[0]
	for report.Status == "queued" || report.Status == "processing" {
		time.Sleep(500 * time.Millisecond)
		report = read().PromptResults[0]
	}
	must(report.Status == "completed" && *report.Text != "", report.Status)
	deleted, err := client.DeleteTranscriptionWithResponse(ctx, id)
	must(err == nil && deleted.StatusCode() == 204, err)
	gone, err := client.GetTranscriptionWithResponse(ctx, id, nil)
	must(err == nil && gone.JSON404 != nil && gone.JSON404.RequestId != "", err)
	fmt.Println("ok")
}
