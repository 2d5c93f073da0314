"""The agent loop and its example (contract §6).

One loop yields events and prints nothing; everybody else reads them. The parts, bottom up:

- `answer` assembles one streamed model answer from its chunks;
- `tools` makes typed Python functions callable by a model; `todo` is the example;
- `conversation` is the loop itself, without any I/O;
- `loop` drives it over HTTP, once for ordinary and once for asynchronous code;
- `scripted_server` is a model endpoint that needs no key and no network.
"""
