run none.json
