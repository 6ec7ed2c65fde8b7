"""What is wrong with this installation, in plain words, and how to mend it.

    flask --app app doctor        python -m app.doctor, where Flask itself will not start

Each check looks at one thing and is caught on its own, so that one that breaks hides no other. Looking changes
nothing: no model is loaded, no table made, no server called unless asked to.
"""
