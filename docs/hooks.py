"""What mkdocs.yml calls: pages made of README.md and its neighbours and of the tables behind --help.

`perfc man --markdown` is $PERFC's, or build/release/perfc's.
"""
import os
import pathlib
import re
import subprocess
import tempfile

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("PERFC", str(ROOT / "build" / "release" / "perfc"))
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"\[([^\]]*)\]\(([^):]+?)(#[^)]*)?\)")


def command_pages() -> dict[str, str]:
    """Path on the site -> Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PROGRAM, "man", "--markdown", "--all", folder], check=True)
        return {f"commands/{p.name}": p.read_text() for p in sorted(pathlib.Path(folder).glob("*.md"))}


def on_config(config):
    """`commands/` of the navigation stands for a page per command."""
    config["perfc_commands"] = command_pages()
    for part in config["nav"]:
        for name, entries in part.items():
            if name == "Reference":
                entries[0] = {"Commands": list(config["perfc_commands"])}
    return config


def on_files(files, config):
    for path, text in config["perfc_commands"].items():
        files.append(File.generated(config, path, content=text))
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links between the tree's documents become links between pages; of what is no page only the text stays."""
    home = ROOT if page.file.src_uri in PAGES.values() else ROOT / "docs"
    if page.file.src_uri.startswith("commands/"):
        return markdown

    def moved(match):
        text, target, anchor = match[1], match[2], match[3] or ""
        path = (home / target).resolve()
        inside = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else target
        uri = PAGES.get(inside, inside.removeprefix("docs/"))
        return f"[{text}]({uri}{anchor})" if inside in PAGES or inside.startswith("docs/") else text

    return LINK.sub(moved, markdown)
