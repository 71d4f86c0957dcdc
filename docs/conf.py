"""How Sphinx builds the site: `sphinx-build -W docs build/site`, where gasmeter and its extra docs are installed.

Nothing is fetched while it builds or when it is read.
"""

import sys
from pathlib import Path

from gasmeter.version import package_version

sys.path.insert(0, str(Path(__file__).parent))  # for `extension`, which writes the pages that nobody keeps by hand

project = "gasmeter"
version = release = package_version()
project_copyright = "the authors of gasmeter; BSD 3-Clause"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "extension"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
default_role = "code"  # docstrings put names in single backticks
autodoc_typehints = "none"  # docstrings name the types
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"gasmeter {release}"
html_static_path = ["static"]
html_css_files = ["tables.css"]
html_show_sphinx = False
html_copy_source = False
