"""What mkdocs.yml cannot say: pages that scripts/pages wrote, the notes by name, and links to files outside docs.

A link from a page to a file of the repository outside docs leads to a copy below repository/. Pages there have their links
followed too. Every link of the built site leads to a file, and to a place in it: the build ends with an error where one does not."""

import html.parser
import os
import pathlib
import posixpath
import re
import urllib.parse

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
GENERATED = ROOT / ".build" / "site" / "generated"
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
SOURCES = {".go": "go", ".py": "python", ".c": "c", ".csv": "text", ".txt": "text", ".generate": "text", ".yml": "yaml", "": "text"}


def on_config(config):
    def fill(items):
        for item in items:
            for name, below in item.items() if isinstance(item, dict) else ():
                if name == "Go's packages":
                    item[name] = _listed("go")
                elif name == "Commands":
                    item[name] = _listed("commands")
                elif name == "Notes":
                    item[name] = sorted(f"notes/{path.name}" for path in (ROOT / "docs" / "notes").glob("*.md"))
                elif isinstance(below, list):
                    fill(below)
    fill(config["nav"])
    return config


def _listed(folder):
    names = sorted(path.name for path in (GENERATED / folder).glob("*.md"))
    names.remove("index.md")
    return [f"{folder}/index.md"] + [f"{folder}/{name}" for name in names]


def on_files(files, config):
    for path in GENERATED.rglob("*.md"):
        files.append(File.generated(config, path.relative_to(GENERATED).as_posix(), abs_src_path=str(path)))
    functions = ["# Python's functions", "", "`import coalesce`; [python.md](python.md) has examples.", "", "::: coalesce", "    options:", "      show_root_heading: false",
                 "      show_submodules: false", "", "::: coalesce.commands", "", "::: coalesce.lapx"]
    files.append(File.generated(config, "python-functions.md", content="\n".join(functions) + "\n"))
    wanted = [(file.src_uri, pathlib.Path(file.abs_src_path).read_text()) for file in list(files) if file.src_uri.endswith(".md") and file.abs_src_path
              and ROOT / "docs" in pathlib.Path(file.abs_src_path).parents]
    seen = set()
    while wanted:
        page, text = wanted.pop()
        for found in LINK.finditer(text):
            target = _outside(page, found.group(2))
            if target is None or target in seen or not (ROOT / target).exists():
                continue
            seen.add(target)
            path = ROOT / target
            if path.is_dir():
                names = "".join(f"- `{below.name}`\n" for below in sorted(path.iterdir()))
                files.append(File.generated(config, f"repository/{target}/index.md", content=f"# {target}\n\n{names}"))
            elif path.suffix == ".md":
                files.append(File.generated(config, f"repository/{target}", abs_src_path=str(path)))
                wanted.append((f"repository/{target}", path.read_text()))
            elif path.suffix in SOURCES and path.stat().st_size < 300_000:
                text_of = path.read_text()
                files.append(File.generated(config, f"repository/{target}.md", content=f"# {target}\n\n~~~~~{SOURCES[path.suffix]}\n{text_of}\n~~~~~\n"))
            else:
                files.append(File.generated(config, f"repository/{target}", abs_src_path=str(path)))
    return files


def _outside(page, link):
    """The path in the repository that a link of a page leads to, where that is outside docs."""
    folder = posixpath.dirname(page)
    base = folder[len("repository/"):] if page.startswith("repository/") else "docs/" + folder if page != "repository" else ""
    if page.startswith("repository/") and "/" not in page[len("repository/"):]:
        base = ""
    target = posixpath.normpath(posixpath.join(base, link))
    return None if target.startswith("docs/") or target == "docs" else target


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    if uri.startswith(("go/", "commands/")) or uri.startswith("repository/") and not (ROOT / uri[len("repository/"):]).suffix == ".md":
        return markdown

    def replace(found):
        begin, link, anchor, end = found.groups()
        target = _outside(uri, link)
        if target is None:
            if not uri.startswith("repository/"):
                return found.group(0)
            base = posixpath.dirname(uri[len("repository/"):])
            to = posixpath.normpath(posixpath.join(base, link))[len("docs/"):]
            if (ROOT / "docs" / to).is_dir():
                to = "index.md"
        elif (ROOT / target).is_dir():
            to = f"repository/{target}/index.md"
        else:
            to = f"repository/{target}"
            if (ROOT / target).suffix in SOURCES and (ROOT / target).suffix != ".md":
                to += ".md"
        return begin + os.path.relpath(to, posixpath.dirname(uri) or ".") + (anchor or "") + end
    return LINK.sub(replace, markdown)


class _Links(html.parser.HTMLParser):
    """The links and the names of places of a page."""

    def __init__(self):
        super().__init__()
        self.links, self.places = set(), set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value and tag != "base":
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def on_post_build(config):
    site = pathlib.Path(config["site_dir"])
    pages = {}
    for path in site.rglob("*.html"):
        pages[path.resolve()] = parser = _Links()
        parser.feed(path.read_text())
    dead = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of a server
            continue
        for link in sorted(page.links):
            target, _, place = urllib.parse.unquote(link).partition("#")
            if "://" in target or target.startswith(("mailto:", "data:")):
                continue
            to = (path.parent / target.partition("?")[0]).resolve() if target else path
            if to.is_dir():
                to = to / "index.html"
            if not to.is_file() or place and to in pages and place not in pages[to].places and place != "__top":
                dead.append(f"{path.relative_to(site)}: {link}")
    if dead:
        raise PluginError("links that lead nowhere:\n" + "\n".join(dead))
