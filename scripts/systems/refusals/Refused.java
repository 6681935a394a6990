import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;

/** Uploads FILE to URL with the client that is named, and prints the answer: Refused NAME URL KEY FILE */
class Refused {
    public static void main(String[] args) throws Exception {
        URI url = URI.create(args[1]);
        Path file = Path.of(args[3]);
        String bearer = "Bearer " + args[2], disposition = "attachment; filename=\"call.wav\"";
        if (args[0].startsWith("HttpClient")) {
            var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            var request = HttpRequest.newBuilder(url).header("Authorization", bearer).header("Content-Disposition", disposition)
                .expectContinue(args[0].endsWith("Expect")).POST(HttpRequest.BodyPublishers.ofFile(file)).build();
            var answer = client.send(request, BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.body());
            return;
        }
        var connection = (HttpURLConnection) url.toURL().openConnection();
        connection.setDoOutput(true);
        connection.setRequestProperty("Authorization", bearer);
        connection.setRequestProperty("Content-Disposition", disposition);
        if (args[0].endsWith("streaming")) connection.setFixedLengthStreamingMode(Files.size(file));
        try (var body = connection.getOutputStream()) {
            Files.copy(file, body);
        }
        int status = connection.getResponseCode();
        try (InputStream answer = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            // of a 401 the JDK hides the body while it streams
            System.out.println(answer == null ? connection.getHeaderField(0) : status + " " + new String(answer.readAllBytes()));
        }
    }
}
