"""Uploads FILE to URL with the library NAME and prints the response: clients.py NAME URL KEY FILE"""

import asyncio
import http.client
import os
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit

name, url, key, path = sys.argv[1:]
headers = {
    "Authorization": "Bearer " + key,
    "Content-Disposition": 'attachment; filename="call.wav"',
    "Content-Length": str(os.path.getsize(path)),
    "Content-Type": "application/octet-stream",
}


def with_http_client() -> None:
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.netloc, timeout=60)
    with open(path, "rb") as file:
        connection.request("POST", f"{at.path}?{at.query}", file, headers)
    answer = connection.getresponse()
    print(answer.status, answer.read().decode())


def with_urllib() -> None:
    with open(path, "rb") as file:
        try:
            answer = urllib.request.urlopen(urllib.request.Request(url, file, headers), timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        print(answer.status, answer.read().decode())


def with_requests() -> None:
    import requests

    with open(path, "rb") as file:
        answer = requests.post(url, data=file, headers=headers, timeout=60)
    print(answer.status_code, answer.text)


def with_httpx() -> None:
    import httpx

    with open(path, "rb") as file:
        answer = httpx.post(url, content=file, headers=headers, timeout=60)
    print(answer.status_code, answer.text)


async def with_httpx_async() -> None:
    import httpx

    async def chunks():
        with open(path, "rb") as file:
            while chunk := file.read(65536):
                yield chunk

    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(url, content=chunks(), headers=headers)
    print(answer.status_code, answer.text)


async def with_aiohttp() -> None:
    import aiohttp

    async with aiohttp.ClientSession() as session:
        with open(path, "rb") as file:
            async with session.post(url, data=file, headers=headers) as answer:
                print(answer.status, await answer.text())


made = {
    "http.client": with_http_client,
    "urllib": with_urllib,
    "requests": with_requests,
    "httpx": with_httpx,
    "httpx-async": with_httpx_async,
    "aiohttp": with_aiohttp,
}[name]()
if made is not None:
    asyncio.run(made)
