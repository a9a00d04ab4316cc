package modelserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

type wireModel struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// models lists the configured models, or the placeholder "recorded" where any name is taken.
func (s *Server) models(w http.ResponseWriter, r *http.Request) error {
	if s.recorder != nil {
		s.recorder.pass(w, r, nil)
		return nil
	}
	names := s.config.Models
	if len(names) == 0 {
		names = []string{"recorded"}
	}
	list := make([]wireModel, 0, len(names))
	for _, name := range names {
		list = append(list, wireModel{name, "model", s.started.Unix(), "callgate"})
	}
	one, asked := strings.CutPrefix(r.URL.Path, "/v1/models/")
	if !asked {
		return writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
	}
	at := slices.Index(names, one)
	if at < 0 {
		return s.unknownModel(one).write(w)
	}
	return writeJSON(w, http.StatusOK, list[at])
}

func (s *Server) unknownModel(name string) *apiError {
	return newError(http.StatusNotFound, "invalid_request_error", "model", "model_not_found",
		fmt.Sprintf("The model %s does not exist: there are %s.", quote(name), strings.Join(s.config.Models, ", ")))
}
