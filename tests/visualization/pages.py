"""What tests of pages share: all pages of an explanation, and the data in them."""

import json
import re

from eigsearch.visualization import (
    comparison_page,
    explanation_page,
    gallery_page,
)

EVIL = '</script><script>alert("&\u2028")</script>'


def data_of(page):
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found[1])


def every_page(explanation, names):
    yield explanation_page(explanation, names)
    yield gallery_page([explanation, explanation], names)
    yield comparison_page({"EiG-Search": explanation, names.title: explanation}, names)
