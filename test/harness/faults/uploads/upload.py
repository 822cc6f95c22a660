"""Sends each request of a list as Python's own client does: the whole body first, then it reads the answer."""
import http.client
import json
import sys

asked = json.load(sys.stdin)
answers = []
for case in asked["cases"]:
    connection = http.client.HTTPConnection("127.0.0.1", asked["port"], timeout=60)
    size = case["bytes"]
    chunked = case["chunked"]
    body = (b" " * 65536 for _ in range(size // 65536 + 1)) if chunked else b" " * size
    try:
        connection.request(case["method"], case["path"], body, case["headers"], encode_chunked=chunked)
        answer = connection.getresponse()
        text = answer.read().decode()
        answers.append({"status": answer.status, "text": text})
    except Exception as error:
        answers.append({"status": None, "text": type(error).__name__})
    finally:
        connection.close()
json.dump(answers, sys.stdout)
