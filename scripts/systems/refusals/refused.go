// Uploads FILE to URL with net/http and prints the response: refused URL KEY FILE
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	file, err := os.Open(os.Args[3])
	if err != nil {
		panic(err)
	}
	facts, _ := file.Stat()
	request, _ := http.NewRequest("POST", os.Args[1], file)
	request.ContentLength = facts.Size()
	request.Header.Set("Authorization", "Bearer "+os.Args[2])
	request.Header.Set("Content-Disposition", `attachment; filename="call.wav"`)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	text, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, string(text))
}
