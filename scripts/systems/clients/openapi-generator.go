// The journey of a recording with the Go client of openapi-generator: BASE (with /v1), KEY, FILE.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	longhand "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func must(ok bool, what ...any) {
	if !ok {
		panic(fmt.Sprint(what...))
	}
}

func main() {
	configuration := longhand.NewConfiguration()
	configuration.Servers = longhand.ServerConfigurations{{URL: os.Getenv("BASE")}}
	client := longhand.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), longhand.ContextAccessToken, os.Getenv("KEY"))
	deal := fmt.Sprintf("go-%d", time.Now().UnixNano())
	file, err := os.Open(os.Getenv("FILE"))
	must(err == nil, err)

	made, _, err := client.TranscriptionsAPI.UploadTranscription(ctx).ContentDisposition(`attachment; filename="call.wav"`).
		XMetadata(`{"deal":"` + deal + `"}`).Language("en").Body(file).Execute()
	must(err == nil, err)
	read := func() *longhand.Transcription {
		record, _, err := client.TranscriptionsAPI.GetTranscription(ctx, made.Uuid).Wait(30).Words(true).Execute()
		must(err == nil, err)
		return record
	}
	record := read()
	for record.Status == "queued" || record.Status == "processing" {
		record = read()
	}
	must(record.Status == "completed" && record.Id == made.Uuid, record.Status)
	must(record.Segments[0].Words[0].GetConfidence() > 0)
	page, _, err := client.TranscriptionsAPI.ListTranscriptions(ctx).Metadata(map[string]string{"deal": deal}).Execute()
	must(err == nil && len(page.Items) == 1 && page.Items[0].Id == made.Uuid, err)
	document, _, err := client.ExportAPI.ExportTranscription(ctx, made.Uuid).Format("md").Execute()
	must(err == nil, err)
	text, _ := io.ReadAll(document)
	must(strings.Contains(string(text), "## Transcript"), string(text))
	_, _, err = client.ReportsAPI.RequestReports(ctx, made.Uuid).ReportRequest(*longhand.NewReportRequest([]string{"summary"})).Execute()
	must(err == nil, err)
	report := read().PromptResults[0]
	for report.Status == "queued" || report.Status == "processing" {
		time.Sleep(500 * time.Millisecond)
		report = read().PromptResults[0]
	}
	must(report.Status == "completed" && report.GetText() != "", report.Status)
	_, err = client.TranscriptionsAPI.DeleteTranscription(ctx, made.Uuid).Execute()
	must(err == nil, err)
	_, response, err := client.TranscriptionsAPI.GetTranscription(ctx, made.Uuid).Execute()
	refused, typed := err.(*longhand.GenericOpenAPIError).Model().(longhand.Error)
	must(response.StatusCode == 404 && typed && refused.RequestId != "", err)
	fmt.Println("ok")
}
