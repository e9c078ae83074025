"""How Sphinx makes pages of the documents (scripts/docs)."""
import re

from pygments.lexers.special import TextLexer

project = "saltus"
author = "the saltus authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
html_theme = "alabaster"
html_theme_options = {"page_width": "68em", "sidebar_width": "15em", "description": "ensembles of ODEs and DAEs with events"}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_show_sourcelink = False

# Headings have the anchors of GitHub, so that the documents read the same there.
myst_heading_anchors = 4
myst_enable_extensions = ["amsmath"]
suppress_warnings = ["myst.header"]  # tables of results begin with headings of a lower level
autodoc_typehints = "description"
autodoc_member_order = "bysource"

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def words_for_files(app, name, source):
    """Replaces a link to a folder or a source file, which is not among the pages, by its text."""
    def word(link):
        target = link[2]
        is_page = target.startswith(("http", "#", "mailto:")) or target.partition("#")[0].endswith(".md")
        return link[0] if is_page else link[1]

    parts, at = [], 0
    for fence in FENCE.finditer(source[0]):
        parts += [LINK.sub(word, source[0][at:fence.start()]), fence[0]]
        at = fence.end()
    source[0] = "".join([*parts, LINK.sub(word, source[0][at:])])


def setup(app):
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", words_for_files)
    return {"parallel_read_safe": True}
