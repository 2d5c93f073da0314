"""The web page over server-sent events: the runs of one host, for any number of viewers.

`hub` keeps each run as one list of events that viewers read at their own pace, `host` runs the
agent loop and does what people decide, `app` is both over HTTP, and `page` is what the browser
gets. Needs the extra `web`.
"""
